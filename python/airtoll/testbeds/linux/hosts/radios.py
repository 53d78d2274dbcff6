"""Radios: virtual ones of mac80211_hwsim moved into namespaces, and what any radio can do.

Takes hosts; gives interface names, MAC addresses and capabilities. Never loads the module
while other virtual radios exist, and unloads it only if this run loaded it.
"""

from __future__ import annotations

import re
from typing import Final

from attrs import frozen

from airtoll.errors import EnvironmentProblem
from airtoll.policies import Cipher
from airtoll.testbeds.linux.hosts.host import Host, LocalHost

#: The monitor interface of mac80211_hwsim: it hears every virtual radio.
MONITOR: Final = "hwsim0"


@frozen
class Radio:
    """One radio: its wiphy, its interface, its MAC address."""

    phy: str
    interface: str
    address: str


async def virtual(root: Host, nodes: list[LocalHost]) -> list[Radio]:
    """Load mac80211_hwsim with one radio per node and move each into its node's namespace."""
    loaded = await root.run(["sh", "-c", "test -d /sys/module/mac80211_hwsim"], check=False)
    if loaded.status == 0:
        raise EnvironmentProblem(
            f"{root.name}: mac80211_hwsim is loaded already; if no other program uses it: "
            "modprobe -r mac80211_hwsim"
        )
    done = await root.run(["modprobe", "mac80211_hwsim", f"radios={len(nodes)}"], check=False)
    if done.status != 0:
        raise EnvironmentProblem(
            f"{root.name}: no mac80211_hwsim for this kernel; use the guest: --vm"
        )
    await root.run(["ip", "link", "set", MONITOR, "up"])
    # Channel 1 to 11 at full power everywhere that matters; no country is claimed for the host.
    await root.run(["iw", "reg", "set", "US"], check=False)
    found = sorted(parse_devices((await root.run(["iw", "dev"])).stdout), key=_number)
    for radio, node in zip(found, nodes, strict=True):
        await root.run(["iw", "phy", radio.phy, "set", "netns", "name", str(node.namespace)])
    return found


async def unload(root: Host) -> None:
    """Take the virtual radios away again."""
    await root.run(["modprobe", "-r", "mac80211_hwsim"], check=False)


async def signal_level(root: Host, host: Host, radio: Radio, dbm: int) -> int:
    """Set the level at which others hear this virtual radio, dBm; gives the level that it took.

    The driver adds the transmit power to its ``rx_rssi``, which goes no lower than -100.
    """
    info = (await host.run(["iw", "dev", radio.interface, "info"])).stdout
    power = re.search(r"txpower (\d+)", info)
    added = int(power.group(1)) if power else 0
    value = max(-100, min(-1, dbm - added))
    await _write_rssi(root, radio, value)
    return value + added


async def full_level(root: Host, radio: Radio) -> None:
    """Let a virtual radio be heard as after loading."""
    await _write_rssi(root, radio, -50)


async def hold_back(root: Host, host: Host, radio: Radio, frames: int) -> None:
    """Let the device refuse a packet while ``frames`` of its hardware queue wait for the air.

    A queue of the device refuses a packet, and TCP keeps it and reduces its window. The medium's
    queue could only lose it. The driver of a guest's kernel has the limit (see
    ``guest.uml_kernel``); elsewhere nothing changes.
    """
    path = f"/sys/kernel/debug/ieee80211/{radio.phy}/hwsim/tx_limit"
    done = await root.run(["sh", "-c", f"test -w {path} && echo {frames} > {path}"], check=False)
    if done.status == 0:
        # The packet that finds the driver's queue full waits above it; the next is refused.
        await host.run(["ip", "link", "set", radio.interface, "txqueuelen", "1"])


async def _write_rssi(root: Host, radio: Radio, value: int) -> None:
    # debugfs takes the number as unsigned 64 bits: -70 is 2^64 - 70.
    path = f"/sys/kernel/debug/ieee80211/{radio.phy}/hwsim/rx_rssi"
    await root.run(["sh", "-c", f"echo {value % 2**64} > {path}"])


def parse_devices(text: str) -> list[Radio]:
    """The radios of ``iw dev``."""
    radios: list[Radio] = []
    phy = interface = ""
    for line in text.splitlines():
        if line.startswith("phy#"):
            phy = "phy" + line[4:].strip()
        elif line.strip().startswith("Interface "):
            interface = line.split()[1]
        elif line.strip().startswith("addr ") and interface:
            radios.append(Radio(phy, interface, line.split()[1]))
            interface = ""
    return radios


def parse_ciphers(text: str) -> frozenset[Cipher]:
    """The link ciphers that a driver claims, from ``iw phy``."""
    found = {f"{oui}-{kind}" for oui, kind in re.findall(r"\(([0-9a-f-]{8}):(\d+)\)", text)}
    return frozenset(cipher for cipher in Cipher if cipher.selector in found)


async def physical(host: Host, interface: str) -> Radio:
    """A radio that is there: its wiphy and MAC address, read from the kernel."""
    base = f"/sys/class/net/{interface}"
    done = await host.run(["cat", f"{base}/phy80211/name", f"{base}/address"], check=False)
    words = done.stdout.split()
    if done.status != 0 or len(words) != 2:
        raise EnvironmentProblem(f"{host.name}: {interface} is no wireless interface: iw dev")
    return Radio(words[0], interface, words[1])


def _number(radio: Radio) -> int:
    return int(radio.phy.removeprefix("phy"))
