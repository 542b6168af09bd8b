#!/usr/bin/env bash
# Fuzzes the parsers of bytes from outside, which are built already, each for SECONDS, and prints a table. Without a
# TARGET, all of them.
set -euo pipefail

seconds=${1:?} only=${2-}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "T is a number of seconds, at least 1" >&2; exit 64; }
program=.build/fuzz/release/quake-fuzz
folder=.build/fuzzing
targets=$("$program" targets)
if [[ $only ]]; then
  grep -qxF -- "$only" <<<"$targets" || { echo "TARGET is one of:" $targets >&2; exit 64; }
  targets=$only
fi

# Swift's own report of a crash would come before that of libFuzzer, which keeps the input.
export SWIFT_BACKTRACE=enable=no
export ASAN_SYMBOLIZER_PATH=${ASAN_SYMBOLIZER_PATH:-$(command -v llvm-symbolizer || true)}

printf '%-16s %8s %12s %8s  %s\n' target seconds executions edges result
findings=""
for target in $targets; do
  mkdir -p "$folder/$target"
  log=$folder/$target/log
  begun=$SECONDS result=passed
  "$program" fuzz "$target" "$folder/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
    -malloc_limit_mb=256 -print_funcs=0 -print_final_stats=1 -artifact_prefix="$folder/$target/" >"$log" 2>&1 || result=failed
  if [[ $result == failed ]]; then
    input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
    reason=$(grep -E 'violated:|Fatal error|ERROR: ' "$log" | head -1 | cut -c 1-2000 || true)
    findings+=$'\n'"$target: ${reason:-see $log}"$'\n'
    findings+="again: SWIFT_BACKTRACE=enable=no $program repeat $target ${input:-FILE}"$'\n'
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
  edges=$(grep -o 'cov: [0-9]*' "$log" | tail -1 | cut -d ' ' -f 2 || true)
  printf '%-16s %8s %12s %8s  %s\n' "$target" $((SECONDS - begun)) "${executions:--}" "${edges:--}" $result
done
[[ ! $findings ]] || { echo "$findings" >&2; exit 1; }
