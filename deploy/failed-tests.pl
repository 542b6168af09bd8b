#!/usr/bin/perl
# Names the tests that failed, from the events that the test groups have written.
#   failed-tests.pl FOLDER            each failed test of a run, its first failure and the command that runs it alone
#   failed-tests.pl --table FOLDER... a table of the failures of several runs, by test
use strict;
use warnings;
use JSON::PP;

my $table = @ARGV && $ARGV[0] eq '--table' && shift;
die "usage: failed-tests.pl [--table] FOLDER...\n" unless @ARGV;

# The failures of one group: the name of the test, and the first line that says what failed.
sub failures {
  my ($events, $group) = @_;
  my ($ended, %failed) = (0);
  open my $lines, '<', $events or die "could not read $events: $!\n";
  while (my $line = <$lines>) {
    my $event = eval { decode_json $line } or next;    # the last line of a killed process may be cut
    next unless $event->{kind} eq 'event';
    my $payload = $event->{payload};
    $ended = 1 if $payload->{kind} eq 'runEnded';
    my $issue = $payload->{issue} // next;
    next if $payload->{kind} ne 'issueRecorded' || $issue->{isKnown} || ($issue->{severity} // 'error') ne 'error';
    my $test = ($payload->{testID} // 'no test') =~ s/\(.*//r;
    my $text = join ' ', map { $_->{text} } @{$payload->{messages}};
    $failed{$test} //= $text =~ s/\s+/ /gr;
  }
  $failed{"group $group"} = 'its process crashed or was killed' . crash($events =~ s/\.events$/.log/r) unless $ended;
  return \%failed;
}

# The log of a process that crashed says why, and names the functions that it was in.
sub crash {
  my ($log) = @_;
  my ($reason, $function) = ('', '');
  open my $lines, '<', $log or return '';
  while (<$lines>) {
    $reason ||= ": $1" if /((?:Fatal error|Program crashed).*)/;
    $function ||= " (in $1)" if $reason && /\bin (\w+Tests\.\w+)/;
  }
  return "$reason$function";
}

my (%runs, %tests);
for my $folder (@ARGV) {
  for my $events (glob "$folder/*.events") {
    my ($group) = $events =~ m{([^/]+)\.events$};
    my $failed = failures($events, $group);
    while (my ($test, $text) = each %$failed) {
      $tests{$test} //= [$group, $text];
      $runs{$test}{$folder} = 1;
    }
  }
}

binmode STDOUT, ':encoding(UTF-8)';
my @names = sort { keys %{$runs{$b}} <=> keys %{$runs{$a}} || $a cmp $b } keys %tests;
if ($table) {
  printf "%8s  %s\n", 'failures', "test, of " . @ARGV . ' runs' if @names;
  printf "%8d  %s\n", scalar keys %{$runs{$_}}, $_ for @names;
} elsif (@names) {
  print "failed: ", @names == 1 ? '1 test' : @names . ' tests', "\n";
  for (@names) {
    my ($group, $text) = @{$tests{$_}};
    my $alone = /^group / ? "make test-group-$group" : "make test-one TEST='$_'";
    print "  $_\n    ", substr($text, 0, 300), "\n    alone: $alone\n";
  }
} else {
  print "a group failed, and no test of it: its log is in $ARGV[0]\n";
}
