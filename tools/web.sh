#!/bin/sh
# Builds the simulator for browsers: takes nothing, writes python/airtoll/report/live/simulator.wasm.gz.
# A wheel and a report carry it compressed. Needs Rust with the target wasm32-unknown-unknown; adds the target if rustup can.
# Without it the script says so and ends well: reports then have no "What if?" panel.
set -u
cd "$(dirname "$0")/.." || exit 1
target=wasm32-unknown-unknown
out=python/airtoll/report/live/simulator.wasm.gz

has_target() {
  [ -d "$(rustc --print target-libdir --target $target 2>/dev/null)" ]
}

if ! has_target && command -v rustup >/dev/null 2>&1; then
  rustup target add $target >/dev/null 2>&1
fi
if ! has_target; then
  echo "web: Rust has no target $target: reports have no What-if panel." \
    "Remedy: rustup target add $target, then make web" >&2
  exit 0
fi
# getrandom is linked by libraries that can draw keys. A simulation draws none, so it needs no source.
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS='--cfg getrandom_backend="unsupported"'
cargo build --quiet --locked --profile web --target $target -p airtoll-web || exit 1
folder=$(cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
made=$folder/$target/web/airtoll_web.wasm
mkdir -p "$(dirname $out)"
gzip -9nc "$made" > $out.new
mv $out.new $out
