#!/bin/sh
# Tries what is made for other machines in a chroot that has nothing but Debian's smallest system:
#
#   tests/classroom/bare_machine.sh FOLDER gradescope    the zip: set up, then a right, a wrong and no submission
#   tests/classroom/bare_machine.sh FOLDER container     what the Dockerfile runs, one RUN after the other
#
# Needs root, Debian's package debootstrap, and the network, for packages. FOLDER/system is made if it is not there, of the
# release in SUITE, else bookworm, and copied for each run. FOLDER takes about 3 GB, a run ten minutes on two cores. In a
# chroot nobody may make namespaces, so that submissions are judged with the weaker isolation.
set -eu

folder=$1
what=$2
project=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
[ -d "$folder/system/usr" ] || debootstrap --variant=minbase "${SUITE:-bookworm}" "$folder/system"
root=$folder/$what
rm -rf "$root"
cp -a "$folder/system" "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"

# As a container has it: processes and mounts of its own, and with CAPS none of root's rights over the system.
inside() {
  # shellcheck disable=SC2016  # for the inner shell
  unshare --mount --pid --fork sh -c '
    mount -t proc proc "$1/proc"
    mount -t tmpfs tmpfs "$1/dev/shm" 2>/dev/null || { mkdir -p "$1/dev/shm"; mount -t tmpfs tmpfs "$1/dev/shm"; }
    root=$1
    shift
    exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      chroot "$root" setpriv --bounding-set -sys_admin,-sys_ptrace --inh-caps -all "$@"' sh "$root" "$@"
}

case $what in
  gradescope)
    mkdir -p "$root/autograder/source" "$root/autograder/submission" "$root/autograder/results"
    "$project/scripts/gradescope_zip.py" --lessons 1 3 --out "$root/autograder.zip"
    python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' "$root/autograder.zip" \
      "$root/autograder/source"
    cp "$root/autograder/source/run_autograder" "$root/autograder/run_autograder"
    chmod 755 "$root/autograder/run_autograder"
    inside bash /autograder/source/setup.sh
    tell() {
      rm -f "$root/autograder/results/results.json"
      begin=$(date +%s)
      inside /autograder/run_autograder
      python3 - "$root/autograder/results/results.json" "$1" $(($(date +%s) - begin)) <<'END'
import json, sys
results = json.load(open(sys.argv[1]))
failed = [test["name"] for test in results["tests"] if test["status"] == "failed"]
print(f"{sys.argv[2]}: {results['score']} points, {len(failed)} of {len(results['tests'])} tests failed, {sys.argv[3]} s")
END
    }
    cp "$project/solutions/01_vector_add/vector_add.cu" "$project/solutions/03_weighted_row_sum/weighted_row_sum.cu" \
      "$root/autograder/submission"
    tell 'worked solutions'
    cp "$project/lessons/01_vector_add/vector_add.cu" "$root/autograder/submission"
    tell 'the stub for lesson 01'
    printf '#include "/autograder/course/solutions/01_vector_add/vector_add.cu"\n' >"$root/autograder/submission/vector_add.cu"
    tell 'includes the solution'
    rm "$root/autograder/submission"/*
    tell 'nothing'
    ;;
  container)
    mkdir "$root/course"
    git -C "$project" ls-files -z | tar -C "$project" --null -T - -cf - | tar -C "$root/course" -xf -
    settings=
    user=root
    while read -r word line; do
      case $word in
        ENV) settings="$settings $line" ;;
        USER) user=$line ;;
        COPY) if [ "$user" = root ] && [ -d "$root/home/student" ]; then inside chown -R student: /course; fi ;;
        RUN)
          echo "RUN $line"
          inside setpriv --reuid "$user" --regid "$user" --init-groups \
            sh -c "cd /course && export $settings && $line" </dev/null
          ;;
      esac
    done <"$project/Dockerfile"
    ;;
  *)
    echo "bare_machine.sh: $what is neither gradescope nor container" >&2
    exit 2
    ;;
esac
