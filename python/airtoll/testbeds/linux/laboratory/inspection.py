"""Checks of a laboratory's hosts: missing parts, and settings that disturb a measurement.

Takes a ``lab.toml``; connects to every host and gives findings, each with the command that mends
it. Never changes a host. The look at a host is one shell script, written for OpenWrt's ash too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final, Literal

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.conditions import parse_survey
from airtoll.testbeds.linux.hosts import environment, radios, shipping
from airtoll.testbeds.linux.hosts.host import Host, SshOptions
from airtoll.testbeds.linux.laboratory import beforehand
from airtoll.testbeds.linux.laboratory.beforehand import NOTHING, Answers, connect
from airtoll.testbeds.linux.laboratory.lab import Lab, LabHost

State = Literal["ok", "note", "problem"]

#: Role -> programs that every trial needs, and programs that some policies or metrics need.
_NEEDED: Final = {
    "access-point": (("hostapd", "iw", "ip"), ()),
    "station": (("wpa_supplicant", "iw", "ip", "iperf3", "ping"), ("irtt", "swanctl", "wg")),
    "server": (("iperf3", "ip"), ("irtt", "freeradius", "radclient", "swanctl", "wg")),
    "radius": (("freeradius", "radclient"), ()),
    "cabled": (("ip", "iperf3", "ping"), ("irtt", "swanctl", "wg")),
}
#: Clocks that differ by more give wrong times between captures of two hosts.
_CLOCK_LIMIT_S: Final = 0.01
#: A channel that is busy for more of the time is shared with others.
_BUSY_LIMIT: Final = 0.1

_LOOK: Final = r"""
say() { printf '@%s\n' "$1"; }
for tool in $TOOLS; do command -v "$tool" >/dev/null 2>&1 && say "tool $tool"; done
say user; id -u
say clock; date +%s.%N
say wpad; pidof wpad; command -v opkg >/dev/null 2>&1 && opkg list-installed 'wpad*' 2>/dev/null
say manager; pidof NetworkManager
say managed; command -v nmcli >/dev/null 2>&1 && nmcli -t -f DEVICE,STATE device 2>/dev/null
say governor; cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null
say country; iw reg get 2>/dev/null | sed -n 's/^country \([A-Z0-9]*\).*/\1/p' | head -n 1
say chrony; command -v chronyc >/dev/null 2>&1 && chronyc -n tracking 2>/dev/null
say route; set -- $SSH_CONNECTION; [ -n "$1" ] && ip route get "$1" 2>/dev/null | head -n 1
if [ -n "$RADIO" ]; then
  say present; [ -d "/sys/class/net/$RADIO" ] && echo yes
  say phy; cat "/sys/class/net/$RADIO/phy80211/name" 2>/dev/null
  say power; iw dev "$RADIO" get power_save 2>/dev/null
  say survey; iw dev "$RADIO" survey dump 2>/dev/null
  say info; iw phy "$(cat "/sys/class/net/$RADIO/phy80211/name" 2>/dev/null)" info 2>/dev/null
fi
exit 0
"""


@frozen
class Finding:
    """One look at one host. ``mend``: the command or the setting that removes a problem."""

    host: str
    about: str
    state: State
    found: str
    mend: str = ""


@frozen
class Seen:
    """Answers of a host: the sections of the script, and its clock less ours with an error, s.

    ``answers``: those about its Python and its daemon.
    """

    sections: Mapping[str, str]
    tools: frozenset[str]
    clock_s: float | None
    within_s: float
    answers: Answers = NOTHING


async def inspect(lab: Lab, options: Mapping[str, SshOptions] | None = None) -> list[Finding]:
    """Findings about every host of a laboratory, in the order of its file.

    ``options``: host name -> further options for asyncssh.
    """
    found: list[Finding] = []
    for name, described in lab.host.items():
        if described.by != "airtoll":
            said = "driven by hand: nothing can be asked"
            if described.by != "hand":
                said = f'by = "{described.by}": a trial asks it; no device has run this recipe yet'
            found.append(Finding(name, "host", "note", said))
            continue
        try:
            async with connect(name, described, (options or {}).get(name, {})) as host:
                seen = await _look(host, described)
        except TestbedError as error:
            mend = f"ssh {described.address}, and ssh-keyscan for an unknown key"
            found.append(Finding(name, "host", "problem", str(error), mend))
            continue
        found += findings(name, described, lab, seen)
    return found


async def _look(host: Host, described: LabHost) -> Seen:
    needed, wanted = _NEEDED[_kind(described)]
    more = ("tcpdump",) if described.monitor or described.role == "server" else ()
    words = " ".join((*needed, *wanted, *more))
    head = f"TOOLS='{words}'\nRADIO='{_radio(described) or ''}'\n"
    began, wall = time.monotonic(), time.time()
    done = await host.run(["sh", "-s"], stdin=head + _LOOK, limit_s=30)
    took_s = time.monotonic() - began
    sections: dict[str, str] = {}
    tools: set[str] = set()
    for part in done.stdout.split("\n@")[0:] if done.stdout else []:
        title, _, text = part.removeprefix("@").partition("\n")
        if title.startswith("tool "):
            tools.add(title.removeprefix("tool ").strip())
        else:
            sections[title.strip()] = text.strip()
    try:
        clock_s = float(sections.get("clock", "")) - (wall + took_s / 2)
    except ValueError:  # BusyBox's date knows no %N
        clock_s = None
    cabled = described.link == "cable"
    answers = await beforehand.look(host, None if cabled else described.role)
    return Seen(sections, frozenset(tools), clock_s, took_s / 2, answers)


def _kind(described: LabHost) -> str:
    return "cabled" if described.link == "cable" else described.role


def _radio(described: LabHost) -> str | None:
    return described.interface if _kind(described) in ("access-point", "station") else None


def findings(name: str, described: LabHost, lab: Lab, seen: Seen) -> list[Finding]:
    """The checks of one host, from the answers that it gave."""
    parts = [*_tools(described, seen), *_programs(name, seen), *_system(described, seen)]
    parts += _clock(seen)
    if _radio(described) is not None:
        parts += _of_radio(described, lab, seen)
    return [Finding(name, *part) for part in parts]


_Part = tuple[str, State, str, str]


def _tools(described: LabHost, seen: Seen) -> list[_Part]:
    needed, wanted = _NEEDED[_kind(described)]
    parts: list[_Part] = []
    grades: tuple[tuple[tuple[str, ...], State, str], ...] = (
        (needed, "problem", ""),
        (wanted, "note", ": some policies skip"),
    )
    for tools, state, why in grades:
        missing = [tool for tool in tools if tool not in seen.tools]
        if missing:
            packages = sorted({environment.TOOLS[t][0] for t in missing if t in environment.TOOLS})
            mend = environment.install(packages or missing)
            parts.append(("tools", state, f"{', '.join(missing)} missing{why}", mend))
    if described.monitor and "tcpdump" not in seen.tools:
        parts.append(("tools", "problem", "tcpdump missing, and it has a monitor",
                      environment.install(["tcpdump"])))  # fmt: skip
    if not parts:
        parts.append(("tools", "ok", ", ".join(sorted(seen.tools)), ""))
    if seen.sections.get("user") != "0":
        parts.append(("rights", "problem", "not root", "log in as root"))
    return parts


def _programs(name: str, seen: Seen) -> list[_Part]:
    parts: list[_Part] = []
    if (why := seen.answers.python) is not None:
        said = f"{why}: cells with response times, DNS, HTTP or FTP are refused"
        parts.append(("python", "note", said, shipping.mend(name)))
    if lacks := seen.answers.lacks:
        said = f"its daemon was built without {', '.join(lacks)}: policies with it are refused"
        parts.append(("daemon", "note", said, "another build of the daemon, or another host"))
    if lacks := seen.answers.kernel:
        said = f"the kernel has no {', '.join(lacks)}: policies with it are refused"
        parts.append(("kernel", "note", said, "a kernel with the modules, or another host"))
    return parts


def _system(described: LabHost, seen: Seen) -> list[_Part]:
    parts: list[_Part] = []
    radio = _radio(described)
    wpad = seen.sections.get("wpad", "")
    if radio is not None and wpad.split() and wpad.split()[0].isdigit():
        parts.append(("wpad", "problem", "wpad runs and holds the radio", "service wpad stop"))
    if "wpad-basic" in wpad:
        said = "this wpad has no 802.1X and no GCMP"
        parts.append(("wpad", "note", said, "opkg remove wpad-basic*; opkg install wpad-openssl"))
    if radio is not None and seen.sections.get("manager"):
        states = dict(line.rsplit(":", 1) for line in seen.sections.get("managed", "").splitlines()
                      if ":" in line)  # fmt: skip
        if states.get(radio) != "unmanaged":
            mend = f"nmcli device set {radio} managed no"
            said = f"it manages {radio}; a run takes the radio from it meanwhile"
            parts.append(("NetworkManager", "note", said, mend))
    governor = seen.sections.get("governor", "")
    if governor and governor != "performance":
        mend = "echo performance > /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
        parts.append(
            ("governor", "note", f"{governor}: the clock rate changes with the load", mend)
        )
    route = seen.sections.get("route", "").split()
    if radio is not None and "dev" in route and route[route.index("dev") + 1] == radio:
        said = f"SSH comes over {radio}, the link under test"
        parts.append(("control", "problem", said, "reach the host over a cable"))
    return parts


def _clock(seen: Seen) -> list[_Part]:
    if seen.clock_s is None:
        return [("clock", "note", "its date command tells whole seconds only", "")]
    said = f"{seen.clock_s * 1e3:+.1f} ms from this machine's, within {seen.within_s * 1e3:.1f} ms"
    if abs(seen.clock_s) > _CLOCK_LIMIT_S + seen.within_s:
        mend = (
            "chronyc makestep" if seen.sections.get("chrony") else environment.install(["chrony"])
        )
        return [("clock", "note", said, mend)]
    return [("clock", "ok", said, "")]


def _of_radio(described: LabHost, lab: Lab, seen: Seen) -> list[_Part]:
    radio, sections = described.interface, seen.sections
    if sections.get("present") != "yes" or not sections.get("phy"):
        return [("radio", "problem", f"{radio} is no wireless interface there", "iw dev")]
    parts: list[_Part] = []
    ciphers = sorted(str(cipher) for cipher in radios.parse_ciphers(sections.get("info", "")))
    parts.append(("ciphers", "ok" if ciphers else "note",
                  ", ".join(ciphers) or "the driver names none", ""))  # fmt: skip
    mode = "AP" if described.role == "access-point" else "managed"
    modes = {line.strip().removeprefix("* ") for line in sections.get("info", "").splitlines()}
    if mode not in modes:
        parts.append(("modes", "problem", f"the driver has no mode {mode}", "another radio"))
    if "on" in sections.get("power", "").lower().split():
        mend = f"iw dev {radio} set power_save off"
        parts.append(("power save", "note", "on; a run switches it off meanwhile", mend))
    country, wanted = sections.get("country", ""), lab.lab.country
    if wanted is not None and country != wanted:
        said = f"{country or 'none'}; a run sets {wanted} meanwhile"
        parts.append(("regulatory domain", "note", said, f"iw reg set {wanted}"))
    elif wanted is None:
        said = f"{country or 'none'}; the lab file names none"
        parts.append(("regulatory domain", "note", said, '[lab] country = "..."'))
    else:
        parts.append(("regulatory domain", "ok", country, ""))
    parts += _channel(lab, sections.get("survey", ""))
    return parts


def _channel(lab: Lab, survey: str) -> list[_Part]:
    from airtoll.testbeds.linux.daemons.hostapd import frequency_mhz

    shares = {row.get("frequency_mhz"): row.get("busy_share") for row in parse_survey(survey)}
    parts: list[_Part] = []
    for channel in lab.lab.channel or (lab.lab.channel_of("2.4ghz"),):
        share = shares.get(frequency_mhz(channel))
        if share is None:
            said = f"channel {channel}: the driver does not tell how busy it is"
            parts.append(("channel", "note", said, "airtoll survey --lab FILE"))
            continue
        said = f"channel {channel} is busy for {share:.0%} of the time"
        if share > _BUSY_LIMIT:
            mend = "airtoll survey --lab FILE --channels 1,6,11"
            parts.append(("channel", "note", said, mend))
        else:
            parts.append(("channel", "ok", said, ""))
    return parts
