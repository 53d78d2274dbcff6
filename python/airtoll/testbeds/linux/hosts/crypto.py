"""Place of encryption: the radio or the CPU, with an alarm when it moved to the CPU.

Takes hosts and wiphys; gives cipher and engine per key as mac80211 says it. Never infers hardware
encryption from a driver's cipher list alone: a key may still be refused by the hardware. Never
reads key material.

mac80211 debugfs (net/mac80211/debugfs_key.c): ieee80211/PHY/keys/N/algorithm is the suite selector
("00-0f-ac:4"), ``ifindex`` the name of the interface, ``station`` a link for a pairwise key; bit 0
of ``flags`` is KEY_FLAG_UPLOADED_TO_HARDWARE (net/mac80211/key.h).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from airtoll.policies.suites import Cipher
from airtoll.testbeds.linux.hosts.host import Host

_UPLOADED: Final = 1
#: Ends of the sentences of ``engine``.
HARDWARE: Final = "(hardware encryption)"
SOFTWARE: Final = "(software encryption)"
#: Softirq time this much above the baseline's, in CPUs, is worth a word.
_RISE: Final = 0.15

#: Radios: name, driver, whether debugfs can be read, whether mac80211 has a folder for keys, and
#: whether the driver's module uses mac80211.
_RADIOS: Final = """
for radio in {sys}/class/ieee80211/*/; do
  [ -d "$radio" ] || continue
  name=$(basename "$radio")
  driver=$(readlink "$radio/device/driver")
  readable=no; [ -r "{sys}/kernel/debug/ieee80211" ] && readable=yes
  soft=no; [ -d "{sys}/kernel/debug/ieee80211/$name/keys" ] && soft=yes
  hidden=no
  module=$(readlink "$radio/device/driver/module")
  for one in "${{driver##*/}}" "${{module##*/}}"; do
    [ -n "$one" ] && [ -d "{sys}/module/mac80211/holders/$one" ] && hidden=yes
  done
  echo "$name $(basename "${{driver:-unknown}}") $readable $soft $hidden"
done
exit 0
"""
#: Keys of one radio: selector, flags, interface, and the station of a pairwise key.
_KEYS: Final = """
for key in {sys}/kernel/debug/ieee80211/{phy}/keys/*/; do
  [ -e "$key/flags" ] || continue
  station=$(readlink "$key/station")
  echo "$(cat "$key/algorithm") $(cat "$key/flags") $(cat "$key/ifindex") ${{station##*/}}"
done
exit 0
"""


@frozen
class Key:
    """One key of mac80211: its suite, whether the hardware holds it, and whose it is.

    ``station``: address of the other end of a pairwise key; empty for group keys.
    """

    algorithm: str
    in_hardware: bool
    interface: str = ""
    station: str = ""

    @property
    def encrypts_data(self) -> bool:
        """Whether it is no key of management frames alone (BIP)."""
        return not self.algorithm.startswith(("BIP", "00-0f-ac"))


@frozen
class Radio:
    """A radio of a host, its driver, and the keys that it uses now.

    ``readable``: debugfs can be read. ``in_mac80211``: the driver leaves keys to mac80211; a
    full-MAC driver keeps them in its firmware. ``uses_mac80211`` without ``in_mac80211``: the
    kernel was built without CONFIG_MAC80211_DEBUGFS, as Debian's is, and shows no keys.
    """

    phy: str
    driver: str
    readable: bool
    in_mac80211: bool
    keys: tuple[Key, ...]
    uses_mac80211: bool = False


async def radios(root: Host, sys: str = "/sys") -> list[Radio]:
    """The radios of a host; ``sys``: where sysfs is mounted."""
    text = (await root.run(["sh", "-c", _RADIOS.format(sys=sys)], check=False)).stdout
    found = []
    for line in text.splitlines():
        phy, driver, readable, in_mac80211, uses = line.split()
        held = tuple(await keys(root, phy, sys))
        found.append(
            Radio(phy, driver, readable == "yes", in_mac80211 == "yes", held, uses == "yes")
        )
    return found


async def multiplication_ms(host: Host) -> float | None:
    """Time of a multiplication of a point of P-256 on one core, ms; None without OpenSSL.

    ECDH derives a secret by one of them, as SAE does several times (IEEE Std 802.11-2020, 12.4.5).
    """
    speed = ["openssl", "speed", "-seconds", "1", "ecdhp256"]
    found = await host.run(["sh", "-c", f"{' '.join(speed)} 2>/dev/null || true"], check=False)
    return parse_multiplication(found.stdout)


def parse_multiplication(text: str) -> float | None:
    """Milliseconds of an operation of the line of ``openssl speed``, which has op/s last."""
    lines = [line.split() for line in text.splitlines() if "ecdh" in line and "nistp256" in line]
    try:
        return 1e3 / float(lines[-1][-1])
    except (IndexError, ValueError, ZeroDivisionError):
        return None


async def keys(root: Host, phy: str, sys: str = "/sys") -> list[Key]:
    """The keys that a radio uses now; empty without debugfs."""
    script = _KEYS.format(sys=sys, phy=phy)
    return parse_keys((await root.run(["sh", "-c", script], check=False)).stdout)


def parse_keys(text: str) -> list[Key]:
    """Lines of selector, flags, interface and station, as ``keys`` collects them."""
    found: list[Key] = []
    for line in text.splitlines():
        algorithm, _, rest = line.partition(" ")
        words = [*rest.split(), "", ""]
        try:
            flags = int(words[0], 0)
        except ValueError:
            continue
        found.append(Key(_named(algorithm), bool(flags & _UPLOADED), words[1], words[2]))
    return found


def _named(algorithm: str) -> str:
    """A cipher's name for its selector; other suites keep theirs."""
    selector = algorithm.lower().replace(":", "-")
    by_selector = {cipher.selector: cipher.value.upper() for cipher in Cipher if cipher.selector}
    return by_selector.get(selector, algorithm or "unknown")


def links(radio: Radio) -> list[tuple[str, str, bool, int]]:
    """Interface, cipher, whether the hardware encrypts, and the number of stations.

    Pairwise keys only, as these carry the data of a link; group keys where there is no other.
    """
    data = [key for key in radio.keys if key.encrypts_data]
    pairwise = [key for key in data if key.station]
    counts = Counter((k.interface, k.algorithm, k.in_hardware) for k in pairwise or data)
    return [(*which, number if pairwise else 0) for which, number in sorted(counts.items())]


def engine(station: str, held: Sequence[Key]) -> str | None:
    """One line on a station's cipher and its engine; None without a key for data."""
    data = [key for key in held if key.encrypts_data]
    soft = sorted({key.algorithm for key in data if not key.in_hardware})
    if soft:
        return f"{station}: {', '.join(soft)} runs on the CPU, not in the radio {SOFTWARE}"
    hard = sorted({key.algorithm for key in data})
    return f"{station}: {', '.join(hard)} runs in the radio {HARDWARE}" if hard else None


def risen(policy: str, baseline: dict[str, float], usage: dict[str, float]) -> str | None:
    """One line when softirq time rose well above the baseline's, or None."""
    before, now = baseline.get("softirq", 0.0), usage.get("softirq", 0.0)
    if now - before < _RISE:
        return None
    return (
        f"{policy} takes {now:.2f} CPU of softirq time, the baseline {before:.2f}: "
        "encryption may have moved to the CPU"
    )
