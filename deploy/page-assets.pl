#!/usr/bin/perl
# Writes Sources/CPage/CPage.c, which embeds each file of the page in Sources/CPage/web. The compiler notices a
# file that changes; a file that is added, renamed or removed needs this script, which `make` runs.
use strict;
use warnings;
use File::Find;
use FindBin;

chdir "$FindBin::Bin/../Sources/CPage" or die "could not enter the folder of the page: $!\n";
my @files;
find({no_chdir => 1, wanted => sub { push @files, $_ if -f && !m{/[.]} }}, "web");
die "there are no files in Sources/CPage/web\n" unless @files;

my $table = "";
for my $file (sort @files) {
  die "Sources/CPage/$file: a name may have letters, digits, '.', '-' and '_' only\n"
    unless $file =~ m{^[A-Za-z0-9._/-]+$};
  die "Sources/CPage/$file is empty\n" unless -s $file;
  $table .= "#define FILE \"$file\"\n#include \"asset.h\"\n";
}
my $source = <<"END";
// Made by deploy/page-assets.pl ("make page-assets").
#include "CPage.h"

#ifndef __has_embed
#error "The compiler does not know #embed of C23: Swift 6.2 or later is needed."
#endif

// In other modes than C23 the compiler has it as an extension.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const struct quake_page_asset assets[] = {
$table};

const struct quake_page_asset *quake_page_asset(size_t index) {
  return index < sizeof assets / sizeof *assets ? &assets[index] : NULL;
}
END

my $path = "CPage.c";
if (open my $old, "<", $path) {
  local $/;
  exit 0 if <$old> eq $source;
}
open my $new, ">", $path or die "could not write Sources/CPage/$path: $!\n";
print $new $source;
close $new or die "could not write Sources/CPage/$path: $!\n";
