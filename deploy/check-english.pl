#!/usr/bin/perl
# Fails, with file and line, where a text uses a phrase that check-english.txt lists.
use strict;
use warnings;
use FindBin;

# Everything people read, or what the command line names.
my @places = @ARGV ? @ARGV : qw(
  README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs deploy migrations Examples
  Dockerfile docker-compose.yml Makefile Package.swift Sources Tests Benchmarks
);
my $list = "deploy/check-english.txt";

chdir "$FindBin::Bin/.." or die "could not enter the project's folder: $!\n";

# A phrase may be broken over two lines, each of which may begin as a comment or a quotation does.
my $gap = qr{(?:[ \t]+|[ \t]*\n[ \t]*(?:(?://+|\#+|--|\*|>)[ \t]*)?)};

my @phrases;
open my $lines, "<", $list or die "could not read $list: $!\n";
while (my $line = <$lines>) {
  next if $line =~ /^\s*(#|$)/;
  my ($phrase, $advice) = $line =~ /^(.*?)\s*=>\s*(.*?)\s*$/ or die "$list:$.: expected PHRASE => ADVICE\n";
  $phrase =~ s/ /$gap/g;
  push @phrases, [qr/\b(?:$phrase)\b/i, $advice];
}

my @files = split /\0/, qx(git ls-files -z --cached --others --exclude-standard -- @places);
die "could not list the files to check\n" if $? != 0 || !@files;
my $found = 0;
for my $file (sort @files) {
  next if $file eq $list || !-f $file;
  open my $text, "<", $file or die "could not read $file: $!\n";
  my $content = do { local $/; <$text> };
  # The words of a name: "staysOpen" is "stays Open".
  $content =~ s/(?<=[a-z0-9])(?=[A-Z])|_/ /g;
  for (@phrases) {
    my ($phrase, $advice) = @$_;
    while ($content =~ /$phrase/g) {
      my $line = 1 + (substr($content, 0, $-[0]) =~ tr/\n//);
      my $match = $& =~ s/\s+/ /gr;
      print "$file:$line: \"$match\": write instead: $advice\n";
      $found++;
    }
  }
}
print "$found phrases that are not plain English; $list has the list\n" if $found;
exit($found ? 1 : 0);
