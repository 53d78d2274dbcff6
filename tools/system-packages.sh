#!/bin/sh
# Install the programs that tests drive. Usage: system-packages.sh peers|all. Needs root and apt for what is missing.
# peers: the daemons and tools that `make test` talks to. all: also what `make test-all` and `make bench-gate` need,
# the browser, R, valgrind, qemu, and the compilers of a User-Mode-Linux kernel.
# Never starts a service: packages that would are told not to.
set -u
wanted="tshark:tshark busybox:busybox charon-systemd:charon-systemd eapol_test:eapoltest ethtool:ethtool
freeradius:freeradius radclient:freeradius-utils hostapd:hostapd iperf3:iperf3 ip:iproute2 ping:iputils-ping irtt:irtt
iw:iw modprobe:kmod openvpn:openvpn sshd:openssh-server swanctl:strongswan-swanctl tcpdump:tcpdump
wg:wireguard-tools wireguard-go:wireguard-go wpa_supplicant:wpasupplicant"
case "${1:-all}" in
  peers) ;;
  all) wanted="$wanted chromium:chromium Rscript:r-base-core qemu-system-x86_64:qemu-system-x86 valgrind:valgrind
    bison:bison flex:flex bc:bc xz:xz-utils" ;;
  *) echo "usage: system-packages.sh peers|all" >&2; exit 2 ;;
esac
# Packages without a program of their own: plugins of strongSwan and the regulatory database.
companions="libcharon-extra-plugins libstrongswan-extra-plugins libstrongswan-standard-plugins wireless-regdb"
PATH="$PATH:/usr/sbin:/sbin"
missing=""
for pair in $wanted; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
[ "${1:-all}" = peers ] || [ -e /usr/include/openssl/opensslv.h ] || missing="$missing libssl-dev"
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
