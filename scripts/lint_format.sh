#!/bin/sh
# Holds the C++ and CUDA sources against .clang-format.
#
#   scripts/lint_format.sh [CLANG_FORMAT]         names what differs; exit status 1 if anything does
#   scripts/lint_format.sh --fix [CLANG_FORMAT]   rewrites the files
set -eu
cd "$(dirname "$0")/.."

fix=
if [ "${1:-}" = --fix ]; then
  fix=yes
  shift
fi
format=${1:-clang-format-14}

sources() { # each with a zero byte after it
  # What the rewriter's tests feed to it, and hostile submissions, are data, and have their own form.
  find common lessons solutions tests docs \( -name corpus -o -name hostile \) -prune -o \
    \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -print0
}

if [ -n "$fix" ]; then
  sources | xargs -0 "$format" -i
elif ! sources | xargs -0 "$format" --dry-run --Werror; then
  echo 'scripts/lint_format.sh --fix rewrites these files' >&2
  exit 1
fi
