#!/bin/bash
# Puts the program NAME of program.sh, with its names, manual pages and completions, into the folder ROOT, and libraries
# beside it.
#   files.sh NAME ROOT [LIBRARY...]
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$2
install -D -m 755 ".build/packages/$1/quake" "$root/bin/quake"
mkdir -p "$root"/share/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
for tool in quake-ingest quake-watch quake-query quake-admin quake-serve; do
  ln -sf quake "$root/bin/$tool"
  built=.build/release/$tool
  "$built" --man >"$root/share/man/man1/$tool.1"
  "$built" --completions bash >"$root/share/bash-completion/completions/$tool"
  "$built" --completions zsh >"$root/share/zsh/site-functions/_$tool"
  "$built" --completions fish >"$root/share/fish/vendor_completions.d/$tool.fish"
done
for library in "${@:3}"; do
  newest=$(objdump -T "$library" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)
  if [[ $(printf '%s\n' "$newest" GLIBC_2.34 | sort -V | tail -n 1) != GLIBC_2.34 ]]; then
    echo "files.sh: $library asks for $newest, but may ask for GLIBC_2.34 at most; see objdump -T" >&2
    exit 1
  fi
  install -D -m 644 "$library" "$root/lib/quake/${library##*/}"
done
