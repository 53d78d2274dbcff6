"""Questions to the hosts of a laboratory before the first trial: Python, daemons and kernels.

Takes a ``lab.toml``; gives what each host lacks, and the reason why a cell cannot be carried out on
them. A daemon is asked by a configuration for an interface that is not there: it reads the file
first, and names a line that it was built without. A kernel is asked in a network namespace that
ends with the question. Never changes a host.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from attrs import field, frozen

from airtoll.errors import TestbedError
from airtoll.plan import Cell
from airtoll.policies import Cipher, Generation
from airtoll.testbeds.linux.hosts import environment, shipping
from airtoll.testbeds.linux.hosts.host import Host, LocalHost, SshHost, SshOptions
from airtoll.testbeds.linux.laboratory.lab import Lab, LabHost

#: A host that has not answered after this time is not waited for, s.
_LIMIT_S: Final = 30.0
_CONNECT_S: Final = 8.0
_INTERFACE: Final = "airtoll-none"
#: Program -> its Debian package, of the programs that hosts are asked for.
TOOLS: Final = {
    "ping": "iputils-ping",
    **{
        tool: environment.TOOLS[tool][0]
        for tool in ("iperf3", "irtt", "swanctl", "charon-systemd", "wg", "freeradius", "radclient")
    },
}
_DAEMONS: Final = {"station": "wpa_supplicant", "access-point": "hostapd"}


@frozen
class Knowledge:
    """Something that a daemon may have been built without, and the lines that ask for it.

    ``network``: of wpa_supplicant's network block. ``access_point``: of hostapd.
    """

    name: str
    asked: Callable[[Cell], bool]
    network: str
    access_point: str


def _ciphers(cell: Cell) -> tuple[Cipher, Cipher]:
    return cell.security.link.cipher, cell.security.link.group_cipher


def _validates_channels(cell: Cell) -> bool:
    return cell.settings.operating_channel_validation and cell.security.link.pmf != "off"


_PSK: Final = 'psk="airtoll-asks"'
_WEP: Final = (Cipher.WEP_40, Cipher.WEP_104)
KNOWLEDGE: Final = (
    Knowledge(
        "WEP",
        lambda cell: any(one in _WEP for one in _ciphers(cell)),
        "key_mgmt=NONE\nwep_key0=0102030405\nwep_tx_keyidx=0",
        "wep_default_key=0\nwep_key0=0102030405",
    ),
    Knowledge(
        "TKIP",
        lambda cell: Cipher.TKIP in _ciphers(cell),
        f"key_mgmt=WPA-PSK\nproto=WPA\npairwise=TKIP\ngroup=TKIP\n{_PSK}",
        "wpa=1\nwpa_key_mgmt=WPA-PSK\nwpa_pairwise=TKIP\nwpa_passphrase=airtoll-asks",
    ),
    Knowledge(
        "SAE",
        lambda cell: cell.security.link.akm is not None and cell.security.link.akm.is_sae,
        f"key_mgmt=SAE\nieee80211w=2\n{_PSK}",
        "wpa=2\nwpa_key_mgmt=SAE\nrsn_pairwise=CCMP\nieee80211w=2\nwpa_passphrase=airtoll-asks",
    ),
    Knowledge(
        "OWE",
        lambda cell: cell.security.link.generation is Generation.OWE,
        "key_mgmt=OWE\nieee80211w=2",
        "wpa=2\nwpa_key_mgmt=OWE\nrsn_pairwise=CCMP\nieee80211w=2",
    ),
    Knowledge(
        "Suite B (192 bit)",
        lambda cell: cell.security.link.akm is not None and cell.security.link.akm.is_192_bit,
        'key_mgmt=WPA-EAP-SUITE-B-192\npairwise=GCMP-256\ngroup=GCMP-256\nidentity="a"',
        "wpa=2\nwpa_key_mgmt=WPA-EAP-SUITE-B-192\nrsn_pairwise=GCMP-256\nieee8021x=1\n"
        "own_ip_addr=127.0.0.1\nauth_server_addr=127.0.0.1\nauth_server_shared_secret=a",
    ),
    Knowledge(
        "fast transition (802.11r)",
        lambda cell: cell.security.link.fast_transition,
        f"key_mgmt=FT-PSK\n{_PSK}",
        "wpa=2\nwpa_key_mgmt=FT-PSK\nrsn_pairwise=CCMP\nwpa_passphrase=airtoll-asks\n"
        "nas_identifier=a\nmobility_domain=0102",
    ),
    Knowledge(
        "operating channel validation",
        _validates_channels,
        f"key_mgmt=WPA-PSK-SHA256\nieee80211w=2\nocv=1\n{_PSK}",
        "wpa=2\nwpa_key_mgmt=WPA-PSK-SHA256\nrsn_pairwise=CCMP\nieee80211w=2\nocv=1\n"
        "wpa_passphrase=airtoll-asks",
    ),
)


@frozen
class Ability:
    """Something of a kernel that tunnels of a kind need.

    ``kind``: of the tunnel. ``command``: of iproute2, tries it. ``refusals``: what the kernel says
    that lacks it; any other answer proves nothing.
    """

    name: str
    kind: str
    command: str
    refusals: tuple[str, ...]


KERNEL: Final = (
    Ability(
        "WireGuard",
        "wireguard",
        "ip link add airtoll-none type wireguard",
        ("Unknown device type", "Operation not supported"),
    ),
    Ability(
        "ESP",
        "esp",
        "ip xfrm state add src 127.0.0.1 dst 127.0.0.2 proto esp spi 0x100 mode tunnel "
        f"enc 'cbc(aes)' 0x{'00' * 16} auth 'hmac(sha1)' 0x{'00' * 20}",
        ("Requested type not found", "Protocol not supported", "Operation not supported"),
    ),
)


@frozen
class Answers:
    """The answers of a host. ``python``: why its Python does not fit, or None.

    ``lacks``: names of ``KNOWLEDGE`` that its daemon refuses. ``without``: programs of ``TOOLS``
    that are not installed. ``kernel``: names of ``KERNEL`` that its kernel refuses. ``silent``: why
    it was not asked.
    """

    python: str | None = None
    lacks: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    kernel: tuple[str, ...] = ()
    silent: str | None = None


#: Of a host that was asked nothing.
NOTHING: Final = Answers()


@frozen
class Asked:
    """The answers of all hosts, by their names in the lab file."""

    lab: Lab
    hosts: Mapping[str, Answers] = field(factory=dict)

    def lines(self) -> list[str]:
        """One line for each host that did not answer."""
        return [f"not asked: {one.silent}" for one in self.hosts.values() if one.silent]

    def why_not(self, cell: Cell, stations: int) -> str | None:
        """Why the hosts cannot carry out a cell with so many of the stations, or None."""
        used = [*self.lab.of("access-point"), *self.lab.of("station")[:stations]]
        if uses_programs(cell):
            for name in (*self.lab.of("server")[:1], *self.lab.of("station")[:stations]):
                why = self.hosts.get(name, NOTHING).python
                if why is not None:
                    return f"{cell.load.application}: {name}: {why}; {shipping.mend(name)}"
        for role, tools in tools_of(cell).items():
            used_in = self.lab.of(role)[: stations if role == "station" else 1]
            for name in used_in:
                lacking = [t for t in tools if t in self.hosts.get(name, NOTHING).without]
                if lacking:
                    packages = sorted({TOOLS[tool] for tool in lacking})
                    return (
                        f"{_subject(cell, lacking)}: {name} has no {', '.join(lacking)}; "
                        f"on {name}: {environment.install(packages)}"
                    )
        for ability in KERNEL:
            if ability.kind not in {tunnel.kind for tunnel in cell.security.tunnels}:
                continue
            for name in (*self.lab.of("server")[:1], *self.lab.of("station")[:stations]):
                if ability.name in self.hosts.get(name, NOTHING).kernel:
                    return (
                        f"{cell.policy}: the kernel of {name} has no {ability.name}: a kernel with "
                        "the module, or another host"
                    )
        for one in KNOWLEDGE:
            if not one.asked(cell):
                continue
            for name in used:
                if one.name in self.hosts.get(name, NOTHING).lacks:
                    daemon = _DAEMONS[self.lab.host[name].role]
                    return (
                        f"{cell.policy}: {daemon} of {name} was built without {one.name}: another "
                        "build of it, or another host"
                    )
        return None


def tools_of(cell: Cell) -> dict[str, tuple[str, ...]]:
    """Role -> programs that the cell's traffic and policy need on its hosts, but the daemons."""
    load = cell.load
    both: tuple[str, ...] = ()
    if load.application in ("stream", "voip"):
        both += ("iperf3",)
    probed = load.application in ("stream", "voip", "ftp")
    if probed or (load.application == "request-response" and load.transport == "udp"):
        both += ("irtt",)
    kinds = {tunnel.kind for tunnel in cell.security.tunnels}
    both += ("swanctl", "charon-systemd") if "esp" in kinds else ()
    both += ("wg",) if "wireguard" in kinds else ()
    method = cell.security.link.eap_method
    radius = ("freeradius", "radclient") if method not in (None, "leap") else ()
    return {"station": (*both, "ping"), "server": (*both, *radius)}


def _subject(cell: Cell, tools: Sequence[str]) -> str:
    of_policy = {"swanctl", "charon-systemd", "wg", "freeradius", "radclient"}
    return cell.policy if of_policy & {*tools} else cell.load.application


def uses_programs(cell: Cell) -> bool:
    """Whether the traffic of a cell runs programs that airtoll sends to the hosts."""
    load = cell.load
    asks = load.application == "request-response" and load.transport == "tcp"
    return asks or load.application in ("dns", "http", "ftp")


async def ask(lab: Lab, options: Mapping[str, SshOptions] | None = None) -> Asked:
    """The answers of all hosts that airtoll drives; one that is not reached is no error.

    ``options``: host name -> further options for asyncssh.
    """
    driven = {name: host for name, host in lab.host.items() if host.by == "airtoll"}
    found = await asyncio.gather(
        *(_of_host(name, host, (options or {}).get(name, {})) for name, host in driven.items())
    )
    return Asked(lab, dict(zip(driven, found, strict=True)))


async def _of_host(name: str, described: LabHost, options: SshOptions) -> Answers:
    waits: SshOptions = {"connect_timeout": _CONNECT_S, "login_timeout": _CONNECT_S, **options}
    try:
        async with connect(name, described, waits) as host:
            return await look(host, None if described.link == "cable" else described.role)
    except (TestbedError, TimeoutError) as error:
        return Answers(silent=str(error) or f"{name}: no answer within {_LIMIT_S:g} s")


def connect(name: str, described: LabHost, options: SshOptions) -> Host:
    """The host of a laboratory, not connected yet."""
    if described.address == "local":
        return LocalHost(name, "none")
    assert described.address is not None
    return SshHost(name, "none", described.address, {**described.ssh_options, **options})


async def look(host: Host, role: str | None) -> Answers:
    """The answers of a connected host with this role; None: of one without a radio."""
    # A local host runs the programs by this Python.
    python = None if host.has_our_files else await shipping.without_python(host)
    daemon = _DAEMONS.get(role or "")
    lacks: tuple[str, ...] = ()
    if daemon is not None:
        done = await host.run(["sh", "-s"], stdin=script(daemon), check=False, limit_s=_LIMIT_S)
        lacks = refused(done.stdout)
    words = " ".join(TOOLS)
    asks = f"for tool in {words}; do command -v $tool >/dev/null 2>&1 || echo $tool; done"
    done = await host.run(["sh", "-c", asks], check=False, limit_s=_LIMIT_S)
    told = done.stdout.split()
    tried = [f"echo @{number}; {one.command} 2>&1" for number, one in enumerate(KERNEL)]
    asks = f"command -v unshare >/dev/null && unshare -n sh -c {shlex.quote('; '.join(tried))}"
    done = await host.run(["sh", "-c", asks], check=False, limit_s=_LIMIT_S)
    missing = tuple(tool for tool in TOOLS if tool in told)
    return Answers(python, lacks, missing, unable(done.stdout))


def unable(said: str) -> tuple[str, ...]:
    """Names of ``KERNEL`` that a kernel lacks, from what it said to their commands."""
    answers = (part.partition("\n") for part in f"\n{said}".split("\n@")[1:])
    told = {int(number): text for number, _, text in answers}
    return tuple(
        one.name
        for number, one in enumerate(KERNEL)
        if any(words in told.get(number, "") for words in one.refusals)
    )


def script(daemon: str) -> str:
    """A shell script that gives a daemon one configuration for each thing to know."""
    parts = [f"command -v {daemon} >/dev/null 2>&1 || exit 0"]
    for number, one in enumerate(KNOWLEDGE):
        if daemon == "hostapd":
            text = f"interface={_INTERFACE}\ndriver=nl80211\nhw_mode=g\nchannel=1\nssid=a\n"
            text += one.access_point
            call = "hostapd /dev/stdin"
        else:
            text = f'network={{\nssid="a"\n{one.network}\n}}'
            call = f"wpa_supplicant -i {_INTERFACE} -D nl80211 -c /dev/stdin"
        parts += [f"echo '@{number}'", f"timeout 5 {call} 2>&1 <<'END_OF_IT'", text, "END_OF_IT"]
    return "\n".join([*parts, "exit 0", ""])


def refused(said: str) -> tuple[str, ...]:
    """Names of ``KNOWLEDGE`` whose configuration a daemon refused, from what it said to them."""
    found: list[str] = []
    for part in f"\n{said}".split("\n@")[1:]:
        number, _, text = part.partition("\n")
        # Without a complaint about a line it came as far as the interface that is not there.
        if any(_complains(line) for line in text.splitlines()):
            found.append(KNOWLEDGE[int(number)].name)
    return tuple(found)


def _complains(line: str) -> bool:
    number, colon, _ = line.removeprefix("Line ").partition(":")
    return line.startswith("Line ") and bool(colon) and number.strip().isdigit()
