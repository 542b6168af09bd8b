#!/bin/bash
# Fails if the program FILE would not run where the packages say that it does, or is not hardened as they are.
#   check.sh FILE [RUNPATH]
# docs/operating.md has the packages that hold these libraries.
set -euo pipefail
file=$1 runpath=${2:-}
libraries='ld-linux-x86-64.so.2 libc.so.6 libcrypto.so.3 libexpat.so.1 libgcc_s.so.1 libm.so.6 libmicrohttpd.so.12 libpq.so.5 libwslay.so.1 libz.so.1 libzstd.so.1'
status=0
problem() {
  echo "check.sh: $file $1" >&2
  status=1
}
while read -r version name; do
  problem "asks for $name of glibc $version, and RHEL 9 has 2.34; define it in deploy/packages/quake.c"
done < <(objdump -T "$file" | sed -nE 's/.*\(GLIBC_([0-9.]+)\) *(.*)/\1 \2/p' | awk '{ split($1, v, "."); if (v[1] > 2 || v[2] > 34) print }')
dynamic=$(readelf --wide --dynamic "$file")
for library in $(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$dynamic"); do
  [[ " $libraries " == *" $library "* ]] || problem "needs $library, which other distributions may not have by this name"
done
grep -q 'Flags: NOW.* PIE' <<<"$dynamic" || problem "is not position-independent with all symbols bound at the start"
grep -q GNU_RELRO <<<"$(readelf --wide --segments "$file")" || problem "can write to its relocated addresses (no RELRO)"
! grep -q '\.symtab' <<<"$(readelf --wide --sections "$file")" || problem "is not stripped"
found=$(sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]/\2/p' <<<"$dynamic")
[[ $found == "$runpath" ]] || problem "searches for libraries in '$found', not in '$runpath'"
grep -q ' MHD_queue_response$' <<<"$(objdump -T "$file" | grep -v '\*UND\*')" \
  || problem "does not answer in the place of libmicrohttpd (Sources/CPage/Refusals.c)"
! grep -qF "$PWD/" "$file" || problem "names the folder of the build, $PWD"
exit $status
