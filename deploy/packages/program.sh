#!/bin/bash
# Links what `make build` compiled into one program, .build/packages/NAME/quake, which has the names of the five tools.
#   program.sh NAME [RUNPATH]
# simdjson, inih, the C++ library and Swift's runtime are inside. Debian has no static simdjson, so its source package
# is compiled. wslay stays a shared library. check.sh checks what the program asks of its machine. The test of the
# packages names in QUAKE_MIGRATIONS an object with the migrations of another release.
set -euo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C
release=$(readlink -f .build/release)
work=$PWD/.build/packages
out=$work/$1
runpath=${2:-}
mkdir -p "$work/lib" "$out"

# The version whose header the tools were compiled with.
version=$(dpkg-query -W -f '${source:Version}' libsimdjson-dev)
if [[ ! -e $work/lib/libsimdjson.a || $(cat "$work/simdjson.version") != "$version" ]]; then
  source deploy/packages/sources.sh
  debian_sources "$work/source" "simdjson=$version"
  g++ -c -O2 -DNDEBUG -fPIC -std=c++17 -DSIMDJSON_EXCEPTIONS=0 -ffunction-sections -fdata-sections \
    -ffile-prefix-map="$work"=. -I"$work/source/simdjson/singleheader" \
    "$work/source/simdjson/singleheader/simdjson.cpp" -o "$work/simdjson.o"
  ar rcsD "$work/lib/libsimdjson.a" "$work/simdjson.o"
  echo "$version" >"$work/simdjson.version"
fi
# A folder of static libraries only, which the linker searches first.
cp "$(pkg-config --variable=libdir inih)/libinih.a" "$(g++ -print-file-name=libstdc++.a)" "$work/lib/"

clang -c -O2 -fPIC -Wall deploy/packages/quake.c -o "$work/quake.o"
# The C++ library inside must not serve libraries that bring their own. Sources/CPage/Refusals.c answers in the place
# of libmicrohttpd, which finds it by name.
echo '{ global: MHD_queue_response; local: *; };' >"$work/exports"
for tool in ingest watch query admin serve; do
  cat "$release/quake-$tool.product/Objects.LinkFileList"
done | sort -u >"$work/objects"
[[ -z ${QUAKE_MIGRATIONS:-} ]] || sed -i "s|.*/CMigrations\.c\.o.*|$QUAKE_MIGRATIONS|" "$work/objects"
options=()
[[ -z $runpath ]] || options=(-Xlinker -rpath -Xlinker "$runpath")
swiftc -static-stdlib -emit-executable -module-name quake -o "$out/quake" "$work/quake.o" -L "$work/lib" \
  "@$work/objects" -L/usr/lib/x86_64-linux-gnu -linih -lpq -lmicrohttpd -lcrypto -lz -lm -lsimdjson -lstdc++ \
  -Xlinker --gc-sections -Xlinker --as-needed -Xlinker --version-script="$work/exports" \
  -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now -Xlinker --build-id=none "${options[@]}"
strip "$out/quake"
# The compiler's hashes of its modules, which nothing reads, differ from folder to folder.
read -r offset size < <(readelf --wide --sections "$out/quake" \
  | sed -nE 's/.* \.swift_modhash +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) .*/\1 \2/p')
dd if=/dev/zero of="$out/quake" conv=notrunc status=none oflag=seek_bytes iflag=count_bytes \
  seek=$((16#$offset)) count=$((16#$size))
deploy/packages/check.sh "$out/quake" "$runpath"
