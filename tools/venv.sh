#!/bin/sh
# Install the packages of lock files into a virtual environment, made where it is missing. Every file of a package
# is checked against the hash in the lock. Usage: venv.sh FOLDER LOCK...
# uv installs them: the one that is there, or that of requirements.lock, which pip brings. Where uv has no build
# for the platform, pip installs everything: the same files, more slowly.
set -eu
folder=$1
shift
[ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
files=""
for lock in "$@"; do files="$files --requirement $lock"; done
pip() { "$folder/bin/python" -m pip --quiet --disable-pip-version-check install --require-hashes "$@"; }
[ -x "$folder/bin/uv" ] || sed -n '/^uv==/,/[^\\]$/p' requirements.lock | pip --requirement /dev/stdin || true
# shellcheck disable=SC2086
if [ -x "$folder/bin/uv" ]; then
  "$folder/bin/uv" pip install --quiet --python "$folder/bin/python" --require-hashes $files
else
  pip $files
fi
