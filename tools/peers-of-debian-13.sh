#!/bin/sh
# Unpack hostapd, eapol_test, FreeRADIUS and strongSwan of Debian 13 in a folder: their OpenSSL 3.5 has ML-KEM and ML-DSA.
# Takes nothing; needs apt and about 50 MB of downloads for a first call. Installs nothing on this machine: the folder
# ${XDG_CACHE_HOME:-~/.cache}/airtoll/debian-13 is a root for chroot. Tests that need it say so where it is not.
set -u
target="${XDG_CACHE_HOME:-$HOME/.cache}/airtoll/debian-13"
[ -d "$target" ] && exit 0
without() { echo "peers of Debian 13: $1 (the tests that need them will say so)" >&2; exit 0; }
{ command -v apt-get && command -v dpkg-deb; } >/dev/null 2>&1 || without "no apt-get"
[ "$(dpkg --print-architecture)" = amd64 ] || without "only amd64 was tried"
# shellcheck disable=SC1091
codename="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
# The archive that this machine already takes Debian's packages from.
archive="$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null \
  | awk -v name="$codename" '$2 == name && $3 == "main" { print $1; exit }')"
[ -n "$archive" ] || without "apt has no archive; run apt-get update"
work="$(mktemp -d)" || without "no temporary folder"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
# Lists, states and sources of its own: those of the machine stay as they are.
: >"$work/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive trixie main" >"$work/sources.list"
set -- -qq -y -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$work/lists" \
  -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User= -o Debug::NoLocking=1
{ apt-get "$@" update && apt-get "$@" --no-install-recommends --download-only install base-files hostapd eapoltest \
  freeradius openssl strongswan-swanctl charon-systemd libstrongswan-standard-plugins; } >"$work/log" 2>&1 \
  || without "no packages: $(tail -n 1 "$work/log")"
for package in "$work"/cache/archives/*.deb; do
  dpkg-deb -x "$package" "$work/root" 2>"$work/log" || without "$package does not unpack: $(tail -n 1 "$work/log")"
done
mkdir -p "$(dirname "$target")"
mv "$work/root" "$target"
