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
for target in targets/*.rs; do
  name=$(basename "$target" .rs)
  mkdir -p "corpus/$name" artifacts
  echo "fuzz $name"
  seeds=""
  [ ! -d "seeds/$name" ] || seeds="seeds/$name"
  # shellcheck disable=SC2086
  "$folder/$host/release/$name" -max_total_time="$seconds" -max_len=4096 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="artifacts/$name-" "corpus/$name" $seeds
done
python=${PYTHON_OF_FUZZ:-../.venv/bin/python}
for target in studies imports journals run_folders; do
  mkdir -p "corpus/$target"
  echo "fuzz $target"
  # -max_len: a study is longer than a frame.
  "$python" "python/$target.py" "corpus/$target" -max_total_time="$seconds" -max_len=16384 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="artifacts/$target-"
done
