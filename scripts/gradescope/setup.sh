#!/bin/sh
# Gradescope runs this once, as root, when it makes the image: installs the packages, builds the course, and grades the
# worked solutions as a student's. Their verdicts stay in the image, so that no submission waits for them.
set -eu

root=${AUTOGRADER:-/autograder}
mkdir -p "$root/course"
tar -xzf "$root/source/course.tar.gz" -C "$root/course"
cd "$root/course"
if [ -e "$root/source/seed.txt" ]; then mv "$root/source/seed.txt" .; fi
cp "$root/source/options" .
# Submissions run as the user nobody, and have no business in these.
chmod -R go-rwx solutions tests seed.txt 2>/dev/null || true
chmod go-rwx "$root/source"

mkdir -p dry/course
cp solutions/*/*.cu dry/course
# shellcheck disable=SC2046  # one word a line, none with spaces
./course --yes grade dry --out results --as-root $(cat options)
rm -r dry
