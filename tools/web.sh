#!/bin/sh
# Builds the simulator for browsers: takes nothing, writes python/airtoll/report/browser/simulator.wasm.gz.
# A wheel and a report carry it compressed. Needs Rust with the target wasm32-unknown-unknown, which rustup can add.
# A distribution's Rust has no such target: its standard library is built from source, with wasm-ld as the linker
# (Debian: rustc-web, cargo-web, rust-web-src, lld).
# Without either the script says so and ends well: reports then have no "What if?" panel.
set -u
cd "$(dirname "$0")/.." || exit 1
target=wasm32-unknown-unknown
out=python/airtoll/report/browser/simulator.wasm.gz

has_target() {
  [ -d "$(rustc --print target-libdir --target $target 2>/dev/null)" ]
}

if ! has_target && command -v rustup >/dev/null 2>&1; then
  rustup target add $target >/dev/null 2>&1
fi
from_source=""
if ! has_target; then
  if [ -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library" ] && command -v wasm-ld >/dev/null 2>&1; then
    from_source="-Z build-std=std,panic_abort"
    # The option is not stable yet; the variable lets a stable compiler take it.
    export RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld
  else
    echo "web: Rust has no target $target: reports have no What-if panel. Remedy: rustup target add $target" \
      "(or apt-get install rustc-web cargo-web rust-web-src lld), then make web" >&2
    exit 0
  fi
fi
# getrandom is linked by libraries that can draw keys. A simulation draws none, so it needs no source.
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS='--cfg getrandom_backend="unsupported"'
# shellcheck disable=SC2086
cargo build --quiet --locked --profile web --target $target $from_source -p airtoll-web || exit 1
folder=$(cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
made=$folder/$target/web/airtoll_web.wasm
mkdir -p "$(dirname $out)"
gzip -9nc "$made" > $out.new
mv $out.new $out
