#!/usr/bin/env bash
# Runs all tests, which are built already, N times beside BUSY processes that use a processor each, and prints
# which tests failed how often. The logs of each run stay in .build/test-repeat.
set -euo pipefail

runs=${1:?} busy=${2:?}
[[ $runs =~ ^[1-9][0-9]*$ && $busy =~ ^[0-9]+$ ]] || { echo "N and BUSY are numbers, N at least 1" >&2; exit 64; }

logs=.build/test-repeat
rm -rf "$logs"
mkdir -p "$logs"

script=$$
processes=()
trap '((${#processes[@]} == 0)) || kill "${processes[@]}" 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
for ((number = 0; number < busy; number++)); do
  # It ends also when the script was killed and could not stop it.
  (while kill -0 "$script" 2>/dev/null; do for ((i = 0; i < 1000000; i++)); do :; done; done) & processes+=($!)
done

# ticks: the time of all processors since the start of the machine, and what of it the host took away.
ticks() { awk '/^cpu / {for (i = 2; i <= 9; i++) sum += $i; print sum, $9}' /proc/stat; }

failed=0
for ((run = 1; run <= runs; run++)); do
  begun=$SECONDS result=passed
  read -r all stolen < <(ticks)
  make --no-print-directory test-groups TEST-LOGS="$logs/$run" >"$logs/$run.log" 2>&1 || { result=failed; failed=$((failed + 1)); }
  read -r all_now stolen_now < <(ticks)
  echo "run $run of $runs: $result in $((SECONDS - begun)) s, steal $((100 * (stolen_now - stolen) / (all_now - all))) %"
  [[ $result == passed ]] || sed -n '/^failed: /,$p' "$logs/$run.log"
done
deploy/failed-tests.pl --table "$logs"/*/
echo "$failed of $runs runs failed"
((failed == 0))
