#!/usr/bin/env bash
# Checks the scripts of the live page: their types, if the compiler of TypeScript is there, their form, and which
# of them may import which.
set -euo pipefail
cd "$(dirname "$0")/../Sources/CPage"

# A module imports modules of its own folder and of those before it. `.` are types.js and the modules that start a page.
folders="types state text api live data ui painter marks map filters list header detail charts time frame ."

failed=0
while IFS= read -r line; do
  echo "$line" >&2
  failed=1
done < <(
  # Lines of at most 110 characters, without tabs and spaces at the end; scripts of one thing each. The texts of a
  # language are one file.
  find web -name '*.js' -print0 | xargs -0 perl -CSD -ne '
    print "Sources/CPage/$ARGV:$.: the line has more than 110 characters\n" if length($_) > 111;
    print "Sources/CPage/$ARGV:$.: the line has a tab or ends in spaces\n" if /\t|[ ]$/;
    print "Sources/CPage/$ARGV:$.: the script has more than 400 lines\n" if $. == 401 && $ARGV !~ m{^web/text/..[.]js$};
    close ARGV if eof;'
  # No arrow points up, neither of what a module imports, nor of the workers that it starts and the types that it
  # names; and no modules import each other.
  find web -name '*.js' -print0 | sort -z | xargs -0 perl -e '
    my $order = shift; my %floor; @floor{split " ", $order} = 0 .. 99; my (%imports, %state);
    sub floor_of { my $file = shift; $file eq "types.js" ? 0 : $floor{$file =~ m{(.*)/} ? $1 : "."} }
    for my $path (@ARGV) {
      open my $in, "<", $path or die "$path: $!\n"; local $/; my $text = <$in>; my ($name) = $path =~ m{^web/(.*)};
      defined floor_of($name) or print "Sources/CPage/$path: deploy/check-page.sh has no place for its folder\n";
      while ($text =~ m{(?:(^(?:import|export)\b[^";(]*)|import\(|new URL\()"(\.[^"]+\.js)"}mg) {
        my ($isStatic, $other) = ($1, $2);
        $other = "$1$other" if $name =~ m{(.*/)};
        1 while $other =~ s{(^|/)\./}{$1} || $other =~ s{[^/]+/\.\./}{};
        print "Sources/CPage/$path: there is no $other\n" unless -e "web/$other";
        print "Sources/CPage/$path: the arrow to $other points up\n" if floor_of($other) > floor_of($name);
        push @{$imports{$name}}, $other if $isStatic;
      }
    }
    sub visit {
      my ($name, @way) = @_;
      return if ($state{$name} // 0) == 2;
      if ($state{$name}) { print "Sources/CPage/web: these import each other: @way $name\n"; return }
      $state{$name} = 1; visit($_, @way, $name) for @{$imports{$name} // []}; $state{$name} = 2;
    }
    visit($_) for sort keys %imports;' "$folders")

if ! command -v tsc >/dev/null; then
  echo "SKIPPED: there is no tsc, so the types of the page are not checked (Debian: apt-get install node-typescript)" >&2
elif ! tsc --project jsconfig.json; then
  failed=1
fi
exit "$failed"
