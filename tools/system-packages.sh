#!/bin/sh
# Install the programs that some tests drive. Takes nothing; needs root and apt for what is missing.
# Never starts a service: packages that would are told not to.
set -u
wanted="chromium:chromium tshark:tshark"
missing=""
for pair in $wanted; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "not installed:$missing (the tests that need them will say so)" >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
apt-get update -qq || exit 0
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null || echo "could not install$missing" >&2
exit 0
