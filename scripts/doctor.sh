#!/bin/sh
# Says, a sentence each, what keeps the course program from being built: the early part of ./course doctor, for which
# there is no program yet. Exit status 3 if there is anything. Installs nothing.
set -u

here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P) || exit 3
result=0
say() {
  printf 'course: %s\n' "$*" >&2
  result=3
}

# is_old VERSION MAJOR MINOR: whether the version is below MAJOR.MINOR; what is no version is not.
is_old() {
  case $1 in
    [0-9]*.[0-9]*) ;;
    *) return 1 ;;
  esac
  major=${1%%.*}
  minor=${1#*.}
  minor=${minor%%[!0-9]*}
  [ "$major" -lt "$2" ] || { [ "$major" -eq "$2" ] && [ "${minor:-0}" -lt "$3" ]; }
}

packages=
while read -r state package gives; do
  [ "$state" = missing ] || continue
  packages="$packages $package"
  say "$package is missing: $gives"
done <<END
$(sh "$here/scripts/setup.sh" check --status)
END
if [ -n "$packages" ]; then
  if command -v apt-get >/dev/null 2>&1; then
    say "this installs what is missing: sudo apt-get install -y$packages"
  else
    say "these are Debian's names; install what your package manager calls them"
  fi
fi

# Compilers other than g++ print their version in other ways, and CMake looks at them.
version=$("${CXX:-c++}" -dumpfullversion 2>/dev/null)
if is_old "$version" 12 0; then say "g++ $version is too old: the course needs 12 or newer; set CXX to a newer one"; fi
version=$(cmake --version 2>/dev/null | head -n 1)
version=${version##* }
if is_old "$version" 3 25; then
  say "cmake $version is too old: the course needs 3.25 or newer; pip install cmake brings one into your PATH"
fi
exit "$result"
