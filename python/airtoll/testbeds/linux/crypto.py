"""Place of encryption: the radio or the CPU, with an alarm when it moved to the CPU.

Takes hosts and wiphys; gives the engine per key as mac80211 says it. Never infers hardware
encryption from a driver's cipher list alone: a key may still be refused by the hardware.

mac80211 debugfs: ieee80211/PHY/keys/N/{algorithm,flags}; bit 0 of flags is
KEY_FLAG_UPLOADED_TO_HARDWARE (net/mac80211/key.h).
"""

from __future__ import annotations

from typing import Final

from attrs import frozen

from airtoll.testbeds.linux.hosts import Host

_UPLOADED: Final = 1
#: Softirq time this much above the baseline's, in CPUs, is worth a word.
_RISE: Final = 0.15


@frozen
class Key:
    """One key of mac80211: its algorithm and whether the hardware holds it."""

    algorithm: str
    in_hardware: bool


async def keys(root: Host, phy: str) -> list[Key]:
    """The keys that a radio uses now; empty without debugfs."""
    script = (
        f"for k in /sys/kernel/debug/ieee80211/{phy}/keys/*/; do "
        '[ -e "$k/flags" ] && echo "$(cat "$k/algorithm") $(cat "$k/flags")"; done; exit 0'
    )
    return parse_keys((await root.run(["sh", "-c", script], check=False)).stdout)


def parse_keys(text: str) -> list[Key]:
    """Lines of an algorithm and its flags, as debugfs prints them."""
    found: list[Key] = []
    for line in text.splitlines():
        words = line.split()
        try:
            flags = int(words[-1], 0)
        except (ValueError, IndexError):
            continue
        found.append(Key(" ".join(words[:-1]) or "unknown", bool(flags & _UPLOADED)))
    return found


def alarm(station: str, held: list[Key]) -> str | None:
    """One line when a key is not in hardware, or None."""
    soft = sorted({key.algorithm for key in held if not key.in_hardware})
    if not soft:
        return None
    return f"{station}: {', '.join(soft)} runs on the CPU, not in the radio (software encryption)"


def risen(policy: str, baseline: dict[str, float], usage: dict[str, float]) -> str | None:
    """One line when softirq time rose well above the baseline's, or None."""
    before, now = baseline.get("softirq", 0.0), usage.get("softirq", 0.0)
    if now - before < _RISE:
        return None
    return (
        f"{policy} takes {now:.2f} CPU of softirq time, the baseline {before:.2f}: "
        "encryption may have moved to the CPU"
    )
