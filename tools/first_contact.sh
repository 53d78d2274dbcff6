#!/bin/sh
# What someone sees who meets airtoll for the first time: clones into an empty folder, with empty caches of pip, uv
# and cargo, runs `make demo` and `make test`, cold and warm, and prints the times of each step.
# Usage: first_contact.sh [demo|all] [FOLDER]. demo: `make demo` alone. FOLDER is kept; without one a temporary
# folder is made and removed. Packages of the system stay: those that apt has installed are not installed again.
set -eu
what=${1:-all}
case "$what" in demo | all) ;; *) echo "usage: first_contact.sh [demo|all] [FOLDER]" >&2; exit 2 ;; esac
source=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -gt 1 ]; then
  place=$2
  mkdir -p "$place"
  [ -z "$(ls -A "$place")" ] || { echo "first_contact.sh: $place is not empty" >&2; exit 2; }
  place=$(cd "$place" && pwd)
else
  place=$(mktemp -d)
  trap 'rm -rf "$place"' EXIT
fi
# The registry that this machine's cargo takes crates from; nothing else of its folder.
kept=${CARGO_HOME:-$HOME/.cargo}
mkdir "$place/cargo"
for file in config.toml config; do
  [ ! -f "$kept/$file" ] || cp "$kept/$file" "$place/cargo/"
done
export CARGO_HOME="$place/cargo" PIP_CACHE_DIR="$place/pip" UV_CACHE_DIR="$place/uv" XDG_CACHE_HOME="$place/cache"
unset CARGO_TARGET_DIR VIRTUAL_ENV PYTHONPATH
git clone --quiet "$source" "$place/airtoll"
cd "$place/airtoll"
echo "$(git rev-parse --short HEAD) on $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"

timed() {
  echo
  python3 tools/step.py --show "make $2, $1" "$3" make --no-print-directory "$2"
}

timed cold demo "4 min"
timed warm demo "15 s"
[ "$what" = all ] || exit 0
timed cold test "12 min"
timed warm test "5 min"
