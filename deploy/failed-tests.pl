#!/usr/bin/perl
# Names the tests that failed, from the events that the test groups have written.
#   failed-tests.pl FOLDER            each failed test of a run, its first failure and the command that runs it alone
#   failed-tests.pl --again FOLDER    what make is given to run each failed test alone, one a line
#   failed-tests.pl --table FOLDER... a table of the failures of several runs, by test
use strict;
use warnings;
use JSON::PP;

my $form = @ARGV && $ARGV[0] =~ /^--(table|again)$/ && shift ? $1 : '';
die "usage: failed-tests.pl [--again | --table] FOLDER...\n" unless @ARGV;

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

sub alone {
  my ($test) = @_;
  return $test =~ /^group / ? "test-group-$tests{$test}[0]" : "test-one TEST='$test'";
}

binmode STDOUT, ':encoding(UTF-8)';
my @names = sort { keys %{$runs{$b}} <=> keys %{$runs{$a}} || $a cmp $b } keys %tests;
if ($form eq 'again') {
  print map { alone($_) =~ s/'//gr . "\n" } @names;
} elsif ($form eq 'table') {
  printf "%8s  %s\n", 'failures', "test, of " . @ARGV . ' runs' if @names;
  printf "%8d  %s\n", scalar keys %{$runs{$_}}, $_ for @names;
} elsif (@names) {
  print "failed: ", @names == 1 ? '1 test' : @names . ' tests', "\n";
  for (@names) {
    my (undef, $text) = @{$tests{$_}};
    print "  $_\n    ", substr($text, 0, 300), "\n    alone: make ", alone($_), "\n";
  }
} else {
  print "a group failed, and no test of it: its log is in $ARGV[0]\n";
}
