#!/bin/sh
# Build the wheel of this machine into a folder. Usage: wheel.sh FOLDER [options of `maturin build`].
# Needs cargo, Python and maturin. tools/backend.py builds the parts that are not the native module.
set -eu
cd "$(dirname "$0")/.."
out=$1
shift
"${PYTHON:-python3}" tools/backend.py
maturin build --release --locked --strip --out "$out" "$@"
rm -rf airtoll._native.data
