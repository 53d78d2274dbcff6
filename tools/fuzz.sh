#!/bin/sh
# Fuzz targets. Usage: fuzz.sh build | fuzz.sh run SECONDS. `run` gives each target that many seconds, from its seeds
# and from what earlier calls found; an input that fails stays in fuzz/artifacts. Those of Rust are in fuzz/targets, those
# of Python in fuzz/python, which `make fuzz` gives their fuzzer.
set -eu
cd "$(dirname "$0")/../fuzz"
host=$(rustc -vV | sed -n 's/^host: //p')
case "${1:-}" in
  build)
    # Coverage instrumentation as cargo-fuzz sets it up, on the pinned stable compiler.
    RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
      -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
      -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing"
    export RUSTFLAGS
    exec cargo build --release --quiet --target "$host" ;;
  run) seconds=$2 ;;
  *) echo "usage: fuzz.sh build | fuzz.sh run SECONDS" >&2; exit 2 ;;
esac
folder=$(cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
python=${PYTHON_OF_FUZZ:-../.venv/bin/python}
mkdir -p artifacts
export seconds folder host python
# One target on each core. xargs ends with an error where one does.
{ for target in targets/*.rs; do basename "$target" .rs; done; echo studies imports journals run_folders; } |
  xargs -n 1 -P "$(nproc 2>/dev/null || echo 1)" sh -euc '
    mkdir -p "corpus/$1"
    if [ -f "targets/$1.rs" ]; then
      set -- "$1" -max_len=4096 "$folder/$host/release/$1"
    else
      # A study is longer than a frame.
      set -- "$1" -max_len=16384 "$python" "python/$1.py"
    fi
    name=$1 length=$2
    shift 2
    set -- "$@" "corpus/$name" "$length" -max_total_time="$seconds" -verbosity=0 -print_final_stats=1 \
      -artifact_prefix="artifacts/$name-"
    [ ! -d "seeds/$name" ] || set -- "$@" "seeds/$name"
    # What a target prints stays together.
    said=$("$@" 2>&1) && code=0 || code=$?
    printf "fuzz %s\n%s\n" "$name" "$said"
    exit "$code"' fuzz
