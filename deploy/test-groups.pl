#!/usr/bin/perl
# The groups of tests, which Tests/groups lists.
#   test-groups.pl beside|after    the names of the groups that run then, in their order
#   test-groups.pl filter GROUP    a regular expression for --filter: the tests in the files of the group's folders
# The name of a test has its module and its file, as in ToolTests.ListTests/manyCodes()/ListTests.swift:12:4, but no
# folder. A module has no two files of one name.
use strict;
use warnings;
use File::Find;
use FindBin;

my ($question, $wanted) = @ARGV;
die "usage: test-groups.pl beside|after|filter GROUP\n"
  unless defined $question && ($question eq 'filter' ? @ARGV == 2 : $question =~ /^(?:beside|after)$/ && @ARGV == 1);
chdir "$FindBin::Bin/../Tests" or die "could not enter the folder of tests: $!\n";

my (%group, %names);
open my $lines, '<', 'groups' or die "could not read Tests/groups: $!\n";
while (my $line = <$lines>) {
  next if $line =~ /^\s*(#|$)/;
  my ($when, $name, @folders) = split ' ', $line;
  die "Tests/groups:$.: expected beside or after, a group and its folders\n" unless $when =~ /^(?:beside|after)$/ && @folders;
  push @{$names{$when}}, $name unless grep { $_ eq $name } @{$names{$when}};
  for (@folders) {
    die "Tests/groups:$.: the folder $_ is in a group already\n" if $group{$_};
    $group{$_} = $name;
  }
}

my (%files, %used);
sub enter {
  return unless /\.swift$/ && -f;
  open my $file, '<', $_ or die "could not read $File::Find::name: $!\n";
  return unless grep { /^\s*\@Test\b/ } <$file>;
  my ($path, $module, $name) = $File::Find::name =~ m{^\./(([^/]+)/.*?([^/]+)\.swift)$};
  my $folder = $path;
  1 while $folder =~ s{/?[^/]+$}{} && !$group{$folder};
  die "Tests/groups names no group for Tests/$path\n" unless $group{$folder};
  $used{$folder} = 1;
  push @{$files{$group{$folder}}{$module}}, $name;
}
find({wanted => \&enter, preprocess => sub { sort @_ }}, '.');
for (sort keys %group) {
  die "Tests/groups: there are no tests in the folder $_ but those of other groups\n" unless $used{$_};
}

if ($question eq 'filter') {
  my $modules = $files{$wanted} or die "Tests/groups has no group $wanted\n";
  my @modules = map { "$_\\..*/(?:" . join('|', @{$modules->{$_}}) . ')' } sort keys %$modules;
  print '^(?:', join('|', @modules), ")\\.swift:\n";
} else {
  print map { "$_\n" } @{$names{$question}};
}
