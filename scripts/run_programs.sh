#!/bin/sh
# Builds the simulator's test programs with nvcc and runs them on this machine's GPU: what they expect of the
# simulator must hold on hardware, too. Prints JSON; the exit status is 1 if a program does not compile or fails.
#
#   scripts/run_programs.sh > docs/results/programs_h200.json
set -u
cd "$(dirname "$0")/.." || exit 2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0
separator=

printf '{\n  "gpu": "%s",\n' "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)"
printf '  "driver": "%s",\n' "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)"
printf '  "nvcc": "%s",\n' "$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
printf '  "date": "%s",\n  "command": "scripts/run_programs.sh",\n  "programs": {' "$(date -u +%Y-%m-%d)"
for source in tests/simt/programs/*.cu; do
  name=$(basename "$source" .cu)
  case $name in cublas*) library=-lcublas ;; curand*) library=-lcurand ;; *) library= ;; esac
  # shellcheck disable=SC2086  # no library is no argument
  if ! nvcc -std=c++17 -O2 -arch=native -rdc=true -Xcompiler -fopenmp -w -I common "$source" $library \
      -o "$folder/$name" >"$folder/log" 2>&1; then
    result='does not compile'
  elif timeout 60 "$folder/$name" >"$folder/log" 2>&1; then
    result='as expected'
  else
    result="fails: $(tail -n 1 "$folder/log" | tr -d '"\\' | cut -c1-80)"
  fi
  [ "$result" = 'as expected' ] || failed=1
  printf '%s\n    "%s": "%s"' "$separator" "$name" "$result"
  separator=,
done
printf '\n  }\n}\n'
exit $failed
