"""The environment of the real stack: the tools found, and remedies for missing ones.

Takes a host; gives versions for the run's record and problems with the command that fixes each.
Never changes anything.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

from attrs import frozen

from airtoll.testbeds.linux.hosts.host import Host

#: Debian packages that the stack and the guest need. Install with --no-install-recommends:
#: wireguard-tools would pull a kernel otherwise.
APT_PACKAGES: Final = (
    "busybox",
    "charon-systemd",
    "ethtool",
    "freeradius",
    "freeradius-utils",
    "hostapd",
    "iperf3",
    "iproute2",
    "iputils-ping",
    "irtt",
    "iw",
    "kmod",
    "libstrongswan-extra-plugins",
    "libstrongswan-standard-plugins",
    "openssh-server",
    "qemu-system-x86",
    "strongswan-swanctl",
    "tcpdump",
    "wireguard-tools",
    "wireless-regdb",
    "wpasupplicant",
)

#: Program -> (package, arguments that print its version).
TOOLS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "hostapd": ("hostapd", ("-v",)),
    "wpa_supplicant": ("wpasupplicant", ("-v",)),
    "freeradius": ("freeradius", ("-v",)),
    "radclient": ("freeradius-utils", ("-v",)),
    "swanctl": ("strongswan-swanctl", ("--version",)),
    # It takes no option that prints a version: it would start. swanctl is of the same release.
    "charon-systemd": ("charon-systemd", ()),
    "wg": ("wireguard-tools", ("--version",)),
    "iperf3": ("iperf3", ("--version",)),
    "irtt": ("irtt", ("version",)),
    "tcpdump": ("tcpdump", ("--version",)),
    "iw": ("iw", ("--version",)),
    "ip": ("iproute2", ("-V",)),
}


@frozen
class Problem:
    """An obstacle, and the command that removes it.

    ``guest_has_it``: it is only in the way of a run on this very machine, not of one with --vm.
    """

    what: str
    mend: str
    guest_has_it: bool = False


async def tools(host: Host) -> dict[str, str]:
    """Tool -> version. A guest has the host's own tools, so query the host: that is faster."""
    # One shell for all: starting a process costs more than what it does.
    script = "".join(
        f"echo '@{tool}'; command -v {tool} >/dev/null && {tool} {' '.join(arguments)} 2>&1\n"
        for tool, (_, arguments) in TOOLS.items()
        if arguments
    )
    done = await host.run(["sh", "-c", script], check=False, limit_s=60)
    found: dict[str, str] = {}
    for part in done.stdout.split("@")[1:]:
        tool, _, text = part.partition("\n")
        version = first_version(text)
        if version:
            found[tool] = version
    return found


async def kernel(host: Host) -> dict[str, str]:
    """The settings of the running kernel that shape the results."""
    script = (
        "echo kernel=$(uname -srvm)\n"
        "echo governor=$(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null)\n"
        "echo tcp=$(cat /proc/sys/net/ipv4/tcp_congestion_control)\n"
        "echo regulatory_domain=$(iw reg get 2>/dev/null | "
        "sed -n 's/^country \\([A-Z0-9]*\\).*/\\1/p' | head -n 1)\n"
    )
    done = await host.run(["sh", "-c", script], check=False)
    pairs = (line.partition("=") for line in done.stdout.splitlines())
    return {key: value for key, _, value in pairs if value}


async def problems(host: Host) -> list[Problem]:
    """Problems that keep this host from carrying out trials, each with its remedy."""
    found: list[Problem] = []
    for tool, (package, _) in TOOLS.items():
        if (await host.run(["sh", "-c", f"command -v {tool}"], check=False)).status != 0:
            found.append(Problem(f"{host.name}: {tool} is missing", install([package])))
    if (await host.run(["id", "-u"])).stdout.strip() != "0":
        found.append(
            Problem(f"{host.name}: not root", "run as root, or with --vm in the guest", True)
        )
    module = await host.run(["modprobe", "--dry-run", "mac80211_hwsim"], check=False)
    if module.status != 0:
        found.append(
            Problem(
                f"{host.name}: the running kernel has no mac80211_hwsim",
                "use the guest: airtoll guest build, then --vm",
                guest_has_it=True,
            )
        )
    running = await host.run(["sh", "-c", "pidof NetworkManager"], check=False)
    if running.status == 0:
        found.append(
            Problem(
                f"{host.name}: NetworkManager is running and may take the radios",
                "nmcli device set INTERFACE managed no",
                guest_has_it=True,
            )
        )
    return found


def without_channel_validation() -> tuple[str, ...]:
    """The Wi-Fi daemons of this machine that were built without operating channel validation.

    They list no options. A daemon with this one (CONFIG_OCV) has the name of its event in its text.
    """
    paths = ((name, shutil.which(name)) for name in ("hostapd", "wpa_supplicant"))
    return tuple(
        name
        for name, path in paths
        if path is not None and b"OCV-FAILURE" not in Path(path).read_bytes()
    )


def install(packages: list[str]) -> str:
    """The command that installs packages without anything they only recommend."""
    return f"apt-get install --no-install-recommends {' '.join(packages)}"


def first_version(text: str) -> str | None:
    """The first word that looks like a version: digits with a dot."""
    hit = re.search(r"\bv?(\d+\.\d+[\w.+-]*)", text)
    return hit.group(1).rstrip(".,") if hit else None
