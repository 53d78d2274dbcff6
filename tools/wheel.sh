#!/bin/sh
# Build the wheel of this machine into a folder. Usage: wheel.sh FOLDER [options of `maturin build`].
# Needs cargo and maturin. On Linux the wheel carries airtoll-medium as a script: the installer puts it
# beside the interpreter, where the Linux testbed looks for it.
set -eu
cd "$(dirname "$0")/.."
out=$1
shift
sh tools/web.sh
scripts=airtoll._native.data/scripts
rm -rf airtoll._native.data
if [ "$(uname -s)" = Linux ]; then
  target=$(cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
  cargo build --release --quiet --locked -p airtoll-medium
  mkdir -p "$scripts"
  cp "$target/release/airtoll-medium" "$scripts/"
  strip "$scripts/airtoll-medium" 2>/dev/null || true
fi
maturin build --release --locked --strip --out "$out" "$@"
rm -rf airtoll._native.data
