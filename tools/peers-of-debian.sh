#!/bin/sh
# Unpack daemons of later releases of Debian in folders. Debian 13: hostapd, eapol_test, FreeRADIUS and strongSwan, whose
# OpenSSL 3.5 has ML-KEM and ML-DSA. Debian 14: strongSwan, which has ML-KEM from 6.0.2 on.
# Takes nothing; needs apt and about 60 MB of downloads for a first call. Installs nothing on this machine: each folder
# ${XDG_CACHE_HOME:-~/.cache}/airtoll/debian-NUMBER is a root for chroot. Tests that need one say so where it is not.
set -u
folder="${XDG_CACHE_HOME:-$HOME/.cache}/airtoll"
without() { echo "peers of Debian: $1 (the tests that need them will say so)" >&2; exit 0; }
have_all() { [ -d "$folder/debian-13" ] && [ -d "$folder/debian-14" ]; }
have_all && exit 0
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

# unpack NUMBER CODENAME PACKAGE...: lists, states and sources of its own, so that those of the machine stay as they are.
unpack() {
  target="$folder/debian-$1"
  release="$2"
  shift 2
  [ -d "$target" ] && return
  here="$work/$release"
  mkdir -p "$here/lists/partial" "$here/cache/archives/partial" "$here/root"
  : >"$here/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $release main" >"$here/sources.list"
  for step in update "--no-install-recommends --download-only install $*"; do
    # shellcheck disable=SC2086
    apt-get -qq -y -o "Dir::Etc::SourceList=$here/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$here/lists" \
      -o "Dir::State::status=$here/status" -o "Dir::Cache=$here/cache" -o APT::Sandbox::User= -o Debug::NoLocking=1 \
      $step >"$work/log" 2>&1 || without "no packages of $release: $(tail -n 1 "$work/log")"
  done
  for package in "$here"/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$here/root" 2>"$work/log" || without "$package does not unpack: $(tail -n 1 "$work/log")"
  done
  mkdir -p "$folder"
  mv "$here/root" "$target"
}

unpack 13 trixie base-files hostapd eapoltest freeradius openssl strongswan-swanctl charon-systemd \
  libstrongswan-standard-plugins
unpack 14 forky base-files strongswan-swanctl charon-systemd libstrongswan-standard-plugins libcharon-extra-plugins
