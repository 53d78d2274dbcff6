#!/bin/sh
# Install the programs that some tests drive. Takes nothing; needs root and apt for what is missing.
# Never starts a service: packages that would are told not to.
set -u
wanted="chromium:chromium tshark:tshark Rscript:r-base-core
busybox:busybox charon-systemd:charon-systemd eapol_test:eapoltest ethtool:ethtool freeradius:freeradius
radclient:freeradius-utils hostapd:hostapd iperf3:iperf3 ip:iproute2 ping:iputils-ping irtt:irtt
iw:iw modprobe:kmod openvpn:openvpn sshd:openssh-server qemu-system-x86_64:qemu-system-x86 swanctl:strongswan-swanctl
tcpdump:tcpdump valgrind:valgrind wg:wireguard-tools wireguard-go:wireguard-go wpa_supplicant:wpasupplicant"
# Packages without a program of their own: plugins of strongSwan and the regulatory database.
companions="libcharon-extra-plugins libstrongswan-extra-plugins libstrongswan-standard-plugins wireless-regdb"
PATH="$PATH:/usr/sbin:/sbin"
missing=""
for pair in $wanted; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
[ -n "$missing" ] || exit 0
case "$missing" in *hostapd*|*swanctl*) missing="$missing $companions" ;; esac
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "not installed:$missing (the tests that need them will say so)" >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
apt-get update -qq || exit 0
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null || echo "could not install$missing" >&2
exit 0
