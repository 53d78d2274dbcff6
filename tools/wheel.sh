#!/bin/sh
# Build the wheel of this machine into a folder. Usage: wheel.sh FOLDER [options of `maturin build`].
# Needs cargo, Python and maturin; a guided build (--pgo) also llvm-profdata of Rust's own LLVM. tools/backend.py builds the parts that are not the native module.
set -eu
cd "$(dirname "$0")/.."
out=$1
shift
case " $* " in *" --pgo "*)
	tool=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/llvm-profdata
	if [ ! -x "$tool" ] && ! command -v llvm-profdata >/dev/null; then
		echo "wheel.sh: a guided build needs llvm-profdata: rustup component add llvm-tools, or make wheel WHEEL_FLAGS=" >&2
		exit 1
	fi ;;
esac
"${PYTHON:-python3}" tools/backend.py
maturin build --release --locked --strip --out "$out" "$@"
rm -rf airtoll._native.data
