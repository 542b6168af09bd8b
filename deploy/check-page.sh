#!/usr/bin/env bash
# Checks the scripts of the live page: their types, if the compiler of TypeScript is there, and their form.
set -euo pipefail
cd "$(dirname "$0")/../Sources/CPage"

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
    print "Sources/CPage/$ARGV:$.: the script has more than 250 lines\n" if $. == 251 && $ARGV !~ m{^web/text/..[.]js$};
    close ARGV if eof;')

if ! command -v tsc >/dev/null; then
  echo "SKIPPED: there is no tsc, so the types of the page are not checked (Debian: apt-get install node-typescript)" >&2
elif ! tsc --project jsconfig.json; then
  failed=1
fi
exit "$failed"
