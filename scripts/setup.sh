#!/bin/sh
# Makes sure that the packages of one group are installed. The one list of packages is here.
#
#   scripts/setup.sh check|docs|grade|test [--yes] [--list | --status]
#
# check  what ./course needs to build the simulator, grade and run kernels
# docs   what the site needs beside that
# grade  what grading a class needs beside that
# test   what the whole test suite needs beside all of that
#
# Uses apt on Debian and Ubuntu: at once as root, in CI (CI=true) or with --yes; else it asks. Exit status 3: something
# is missing and cannot be installed from here; the last line is what to run. --list names what is missing, and stops.
# --status prints a line for each package of the group, and stops: "there" or "missing", the package, what it gives.
set -u

group=${1:-}
yes=${CI:+yes}
list=
status=
for word in "$@"; do
  case $word in
    check | docs | grade | test) ;;
    --yes) yes=yes ;;
    --list) list=yes ;;
    --status) status=yes ;;
    *) echo "setup.sh: unknown argument $word" >&2; exit 2 ;;
  esac
done

# Looks for what a package brings rather than for the package: it may have come another way.
program() { command -v "$1" >/dev/null 2>&1; }
header() {
  for root in /usr/include /usr/local/include; do
    for name in "$@"; do [ -e "$root/$name" ] && return 0; done
  done
  return 1
}
module() { # CMake, too, takes the system's own Python first
  for python in /usr/bin/python3 python3; do program "$python" && break; done
  "$python" -c "import $1" 2>/dev/null
}
file() { [ -e "$1" ]; }

# tell STATE PACKAGE WHAT-IT-GIVES
tell() { [ -z "$status" ] || echo "$1 $2 $3"; }

missing=
need() { # need PACKAGE WHAT-IT-GIVES TEST...
  package=$1
  gives=$2
  shift 2
  if "$@"; then
    tell there "$package" "$gives"
  else
    missing="$missing $package"
    tell missing "$package" "$gives"
  fi
}
# What only some of the commands or tests use: a distribution that has no such package leaves those out.
extra=
want() { # want PACKAGE WHAT-IT-GIVES TEST...
  package=$1
  gives=$2
  shift 2
  if "$@"; then
    tell there "$package" "$gives"
  else
    extra="$extra $package"
    tell missing "$package" "$gives"
  fi
}

case $group in
  check | docs | grade | test)
    need g++ 'compiles the course and your kernels' program "${CXX:-c++}"
    need cmake 'configures the build' program cmake
    need ninja-build 'runs the build' program ninja
    need catch2 "lessons' tests are written with it" header catch2/catch.hpp catch2/catch_all.hpp
    if [ "$(uname -m)" != x86_64 ]; then
      need libboost-context-dev 'stacks, on which the simulator runs threads' header boost/context/fiber.hpp
    fi
    need libcli11-dev 'reads the command line' header CLI/CLI.hpp
    need nlohmann-json3-dev 'reads and writes results' header nlohmann/json.hpp
    need libfmt-dev 'writes numbers and words' header fmt/core.h
    ;;
  *) echo "usage: setup.sh check|docs|grade|test [--yes] [--list | --status]" >&2; exit 2 ;;
esac
if [ "$group" != check ]; then
  need python3 'builds the site, unpacks submissions and runs many tests' program python3
fi
case $group in
  docs | test)
    need doxygen 'builds the site' program doxygen
    need doxygen-awesome-css 'the looks of the site' file /usr/share/doxygen-awesome-css/doxygen-awesome.css
    need libjs-mathjax "the site's formulas" file /usr/share/javascript/mathjax/MathJax.js
    ;;
esac
case $group in
  grade | test) want bubblewrap 'the sandbox in which submissions are graded' program bwrap ;;
esac
if [ "$group" = test ]; then
  want libboost-context-dev "a test of the simulator's stacks" header boost/context/fiber.hpp
  need libbenchmark-dev 'benchmarks of the simulator' header benchmark/benchmark.h
  want clang-format-14 'the check of the format' program clang-format-14
  want codespell 'the check of the spelling' program codespell
  want chromium 'tests of the site in a browser' program chromium
  want chromium-driver 'tests of the site in a browser' program chromedriver
  want python3-selenium 'tests of the site in a browser' module selenium
  want python3-jsonschema 'tests of result files' module jsonschema
  want python3-junitparser 'tests of result files' module junitparser
  want libxml2-utils 'tests of result files' program xmllint
  need python3-numpy 'tests that read arrays as NumPy does' module numpy
  want python3-matplotlib 'draws the charts of measured results, and their tests' module matplotlib
fi
[ -z "$status" ] || exit 0

missing=${missing# }
extra=${extra# }
if [ -n "$list" ]; then
  echo "$missing $extra"
  exit 0
fi
[ -n "$missing$extra" ] || exit 0

if ! program apt-get; then
  [ -n "$missing" ] || exit 0
  echo "course: this machine lacks what Debian calls: $missing" >&2
  echo "course: install these with your package manager, then run the command again" >&2
  exit 3
fi

as_root=
if [ "$(id -u)" != 0 ]; then
  if program sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=sudo
    if [ -z "$yes" ] && [ -t 0 ]; then
      printf 'The course needs these packages: %s\nInstall them with apt now? [Y/n] ' "$missing" >&2
      read -r answer || answer=n
      case $answer in
        '' | [yY]*) ;;
        *) as_root=none ;;
      esac
    elif [ -z "$yes" ]; then
      as_root=none # nobody to ask
    fi
  else
    as_root=none
  fi
fi
if [ "$as_root" = none ]; then
  [ -n "$missing" ] || exit 0
  echo "course: packages are missing; this installs them:" >&2
  echo "sudo apt-get install -y $missing $extra" >&2
  exit 3
fi

echo "course: installing $missing $extra" >&2
log=${COURSE_SETUP_LOG:-/dev/null}
export DEBIAN_FRONTEND=noninteractive
apt() { $as_root apt-get "$@" >>"$log" 2>&1; }
# The package index may be missing or old: it is fetched when the first attempt fails.
install() {
  [ "$#" -gt 0 ] || return 0
  apt install -y --no-install-recommends "$@" || { apt update && apt install -y --no-install-recommends "$@"; }
}
# shellcheck disable=SC2086  # the lists are meant to be split into words
install $missing || {
  echo "course: apt could not install them; its last lines:" >&2
  [ "$log" = /dev/null ] || tail -n 5 "$log" >&2
  echo "course: run this by hand to see more: apt-get update && apt-get install -y $missing" >&2
  exit 3
}
# shellcheck disable=SC2086
install $extra || for package in $extra; do
  install "$package" || echo "course: apt has no $package; what uses it is left out" >&2
done
