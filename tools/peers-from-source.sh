#!/bin/sh
# Build hostapd and eapol_test with EAP-TEAP from Debian's source package: its binaries leave it out.
# Takes nothing; needs apt, a compiler and about 30 MB of downloads for a first build. The programs
# stay in ${XDG_CACHE_HOME:-~/.cache}/airtoll/peers. Tests that need them say so where they are not.
set -u
target="${XDG_CACHE_HOME:-$HOME/.cache}/airtoll/peers"
[ -x "$target/hostapd" ] && [ -x "$target/eapol_test" ] && exit 0
without() { echo "hostapd and eapol_test with EAP-TEAP: $1 (the tests that need them will say so)" >&2; exit 0; }
command -v apt-get >/dev/null 2>&1 || without "no apt-get"
# shellcheck disable=SC1091
codename="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
[ -n "$codename" ] || without "no Debian release in /etc/os-release"
if ! command -v dpkg-source >/dev/null 2>&1 || ! command -v cc >/dev/null 2>&1 || ! pkg-config --exists libssl 2>/dev/null; then
  [ "$(id -u)" = 0 ] || without "not installed: build-essential, dpkg-dev, libssl-dev, pkg-config"
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    build-essential dpkg-dev libssl-dev pkg-config >/dev/null || without "could not install a compiler and libssl-dev"
fi
work="$(mktemp -d)" || without "no temporary folder"
trap 'rm -rf "$work"' EXIT
# Lists and sources of its own: those of the machine stay as they are.
mkdir -p "$work/lists/partial"
# The archive that this machine already takes Debian's packages from.
archive="$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null \
  | awk -v name="$codename" '$2 == name && $3 == "main" { print $1; exit }')"
[ -n "$archive" ] || without "apt has no archive of $codename; run apt-get update"
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $codename main" >"$work/sources.list"
set -- -qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$work/lists" \
  -o "Dir::Cache::srcpkgcache=" -o "Dir::Cache::pkgcache=" -o APT::Sandbox::User=
(cd "$work" && apt-get "$@" update && apt-get "$@" source wpa) >"$work/log" 2>&1 || without "no source package: $(tail -n 1 "$work/log")"
source="$(find "$work" -maxdepth 1 -type d -name 'wpa-*')"
[ -d "$source" ] || without "the source package wpa unpacks to no folder wpa-*"
methods="CONFIG_EAP_MD5=y CONFIG_EAP_TLS=y CONFIG_EAP_MSCHAPV2=y CONFIG_EAP_PEAP=y CONFIG_EAP_FAST=y CONFIG_EAP_TEAP=y CONFIG_TLS=openssl"
# shellcheck disable=SC2086
printf '%s\n' $methods CONFIG_DRIVER_NONE=y CONFIG_RADIUS_SERVER=y CONFIG_EAP=y >"$source/hostapd/.config"
# shellcheck disable=SC2086
printf '%s\n' $methods CONFIG_DRIVER_WIRED=y CONFIG_IEEE8021X_EAPOL=y CONFIG_EAPOL_TEST=y >"$source/wpa_supplicant/.config"
make -C "$source/hostapd" -j"$(nproc)" hostapd >"$work/log" 2>&1 || without "hostapd does not build: $(tail -n 1 "$work/log")"
make -C "$source/wpa_supplicant" -j"$(nproc)" eapol_test >"$work/log" 2>&1 || without "eapol_test does not build: $(tail -n 1 "$work/log")"
mkdir -p "$target"
cp "$source/hostapd/hostapd" "$source/wpa_supplicant/eapol_test" "$target/"
