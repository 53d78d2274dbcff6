"""strongSwan: one charon per host, and ESP tunnels in tunnel mode between them.

Takes tunnels of the catalogue and their ends; gives established SAs whose algorithms were read
back. A host may be an end of several. Never uses the configuration in /etc: every charon has its
own strongswan.conf and its own vici socket.

Option names: strongSwan 5.9, strongswan.conf(5) and swanctl.conf(5).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen

from airtoll.errors import TestbedError
from airtoll.policies import Tunnel
from airtoll.testbeds.linux.hosts.host import Host, Process

_PLUGINS: Final = (
    "random nonce openssl des md5 sha1 sha2 hmac aes gcm kdf gmp pem x509 pubkey pkcs1 pkcs8 "
    "kernel-netlink socket-default vici"
)
#: Encryption -> (IKE proposal without integrity, ESP word, name in the SA). IKE of the old
#: tunnels uses the group of their time (modp1024), the others group 14.
_ENCRYPTION: Final = {
    "null": ("aes128", "null", "NULL"),
    "des": ("3des", "des", "DES_CBC"),
    "3des": ("3des", "3des", "3DES_CBC"),
    "aes-cbc": ("aes128", "aes128", "AES_CBC"),
    "aes-gcm": ("aes128", "aes128gcm16", "AES_GCM_16"),
}
#: The octets so far; the limits of a lifetime have a parenthesis or another word in front.
_CURRENT: Final = re.compile(r"\s+(\d+)\(bytes\), \d+\(packets\)$")
_INTEGRITY: Final = {"md5": "HMAC_MD5_96", "sha1": "HMAC_SHA1_96"}


class TunnelError(TestbedError):
    """The tunnel did not come up, or not with the algorithms that the policy names."""


@frozen
class Charon:
    """A running IKE daemon."""

    host: Host
    process: Process
    uri: str
    folder: str

    async def swanctl(self, *arguments: str, limit_s: float = 120.0, check: bool = True) -> str:
        """The output of one swanctl command over this daemon's vici socket."""
        # With the host's own strongswan.conf swanctl would load every plugin there is, and the TPM
        # one waits for a resource manager that may not be there.
        settings = f"STRONGSWAN_CONF={self.folder}/strongswan.conf"
        done = await self.host.run(
            ["env", settings, "swanctl", *arguments, "--uri", self.uri],
            limit_s=limit_s,
            check=check,
        )
        return done.stdout + done.stderr


#: Routing table in which charon keeps its routes (strongswan.conf(5), charon.routing_table).
_ROUTES: Final = "220"


@frozen
class End:
    """One end: its daemon, name, outer address, and the prefixes inside (IPv4 first).

    ``own``: prefixes of single addresses that the host takes for itself, on its loopback.
    """

    charon: Charon
    name: str
    outer: str
    inside: tuple[str, ...]
    own: tuple[str, ...] = ()


@frozen
class Connection:
    """A tunnel between two ends; ``near`` begins. ``layer``: how many others are inside it."""

    tunnel: Tunnel
    near: End
    far: End
    layer: int = 0

    @property
    def name(self) -> str:
        """Its name in swanctl, the same at both ends."""
        name = f"{self.near.name}-{self.far.name}"
        return f"{name}-{self.layer}" if self.layer else name

    def reversed(self) -> Connection:
        """The same connection as the far end's daemon sees it."""
        return evolve(self, near=self.far, far=self.near)


async def start(host: Host, folder: str, limit_s: float = 90.0) -> Charon:
    """Start charon on a host and wait for its vici socket."""
    base = f"{folder}/charon-{host.name}"
    socket = f"{base}/vici"
    text = (
        "charon-systemd {\n"
        f"  load = {_PLUGINS}\n"
        "  plugins {\n    vici {\n"
        f"      socket = unix://{socket}\n"
        "    }\n  }\n"
        "  journal {\n    default = -1\n  }\n"
        f"  filelog {{\n    main {{\n      path = {base}/charon.log\n      default = 1\n"
        "    }\n  }\n"
        "  install_virtual_ip = no\n"
        "}\n"
        "swanctl {\n  load = random nonce openssl pem x509 pubkey pkcs1 pkcs8\n}\n"
    )
    await host.put(f"{base}/strongswan.conf", text)
    env = {"STRONGSWAN_CONF": f"{base}/strongswan.conf"}
    async with host.starting(["charon-systemd"], log=f"{base}/start.log", env=env) as process:
        await host.wait_for(socket, limit_s, process)
    return Charon(host, process, f"unix://{socket}", base)


async def load(connections: Sequence[Connection], secret: str) -> None:
    """Replace the connections of every daemon."""
    of: dict[str, list[tuple[Connection, bool]]] = {}
    for connection in connections:
        of.setdefault(connection.near.name, []).append((connection, True))
        of.setdefault(connection.far.name, []).append((connection, False))
    await asyncio.gather(*(_load(known, secret) for known in of.values()))


async def _load(known: list[tuple[Connection, bool]], secret: str) -> None:
    ends = [connection.near if near else connection.far for connection, near in known]
    charon = ends[0].charon
    path = f"{charon.folder}/swanctl.conf"
    await charon.host.put(path, configuration(known, secret))
    await charon.swanctl("--load-all", "--file", path)
    for address in sorted({address for end in ends for address in end.own}):
        await charon.host.run(["ip", "addr", "replace", address, "dev", "lo"])


async def up(connection: Connection) -> list[dict[str, str]]:
    """Negotiate a loaded connection; gives the ESP keys for the key log.

    Raises :class:`TunnelError` with the daemon's reason, or when the SA that came about uses
    other algorithms than the policy's.
    """
    near, name = connection.near, connection.name
    told = await near.charon.swanctl(
        *("--initiate", "--ike", name, "--child", name, "--timeout", "60"),
        check=False,
        limit_s=120,
    )
    if "initiate completed successfully" not in told:
        lines = [line for line in told.strip().splitlines() if line]
        raise TunnelError(f"{near.name}: IKE failed: {lines[-1] if lines else 'no message'}")
    sa = parse_sa(await near.charon.swanctl("--list-sas", "--raw", "--ike", name))
    wrong = differences(connection.tunnel, sa)
    if wrong:
        raise TunnelError(f"{near.name}: the tunnel is not the policy's: {'; '.join(wrong)}")
    states = await near.charon.host.run(["ip", "xfrm", "state"])
    ends = {near.outer, connection.far.outer}
    return [
        {**key, "transform": connection.tunnel.suite}
        for key in parse_keys(states.stdout)
        if {key["source"], key["destination"]} == ends
    ]


async def carried(connection: Connection) -> int:
    """Octets that a tunnel has carried, both ways, as its near end counts them."""
    near = connection.near
    told = await near.charon.host.run(["ip", "-s", "xfrm", "state"])
    return parse_octets(told.stdout, {near.outer, connection.far.outer})


async def down(connections: Sequence[Connection]) -> None:
    """Delete the SAs and what was loaded."""
    ends: dict[str, End] = {}
    for connection in connections:
        # The station may be off the air by now: neither end waits for the other's word. An SA that
        # stayed would put its routes back as soon as the addresses are there again.
        for end in (connection.near, connection.far):
            await end.charon.swanctl(
                "--terminate", "--ike", connection.name, "--force", check=False
            )
        ends |= {connection.near.name: connection.near, connection.far.name: connection.far}
    for end in ends.values():
        host = end.charon.host
        await host.run(["ip", "xfrm", "state", "flush"], check=False)
        await host.run(["ip", "xfrm", "policy", "flush"], check=False)
        # A route that charon left would lead the next tunnel's packets around that tunnel.
        for family in ("-4", "-6"):
            await host.run(["ip", family, "route", "flush", "table", _ROUTES], check=False)
        for address in end.own:
            await host.run(["ip", "addr", "del", address, "dev", "lo"], check=False)


def proposals(tunnel: Tunnel) -> tuple[str, str]:
    """The IKE and the ESP proposal of a tunnel of the catalogue."""
    ike, esp, _ = _ENCRYPTION[tunnel.encryption]
    if tunnel.encryption == "aes-gcm":
        return f"{ike}-sha256-modp2048", esp
    old = tunnel.encryption in ("des", "3des")
    group = "modp1024" if old else "modp2048"
    hashed = tunnel.integrity if old else "sha256"
    return f"{ike}-{hashed}-{group}", f"{esp}-{tunnel.integrity}"


def configuration(known: Sequence[tuple[Connection, bool]], secret: str) -> str:
    """The text of swanctl.conf for one host: its connections, each with whether it is near."""
    sections = "".join(
        _section(connection if near else connection.reversed(), connection.name)
        for connection, near in known
    )
    secrets = "".join(
        f"  ike-{connection.name} {{\n"
        f"    id-1 = {connection.near.name}\n    id-2 = {connection.far.name}\n"
        f'    secret = "{secret}"\n  }}\n'
        for connection, _ in known
    )
    return f"connections {{\n{sections}}}\nsecrets {{\n{secrets}}}\n"


def _section(connection: Connection, name: str) -> str:
    tunnel, end, other = connection.tunnel, connection.near, connection.far
    ike, esp = proposals(tunnel)
    version = 1 if tunnel.key_exchange == "ikev1" else 2
    # IKEv1 carries one traffic selector per SA; IPv6 in the tunnel needs IKEv2.
    near, far = (
        side.inside[0] if version == 1 else ", ".join(side.inside) for side in (end, other)
    )
    return f"""  {name} {{
    version = {version}
    local_addrs = {end.outer}
    remote_addrs = {other.outer}
    proposals = {ike}
    local {{
      auth = psk
      id = {end.name}
    }}
    remote {{
      auth = psk
      id = {other.name}
    }}
    children {{
      {name} {{
        local_ts = {near}
        remote_ts = {far}
        esp_proposals = {esp}
      }}
    }}
  }}
"""


def parse_sa(text: str) -> dict[str, str]:
    """``version``, ``state``, ``encr-alg``, ``integ-alg`` of ``swanctl --list-sas --raw``.

    The raw form nests sections; the child's algorithms follow "child-sas".
    """
    head, _, child = text.partition("child-sas")
    found = {}
    for key, source in (
        ("version", head),
        ("state", child),
        ("encr-alg", child),
        ("encr-keysize", child),
        ("integ-alg", child),
        ("mode", child),
    ):
        hit = re.search(rf"\b{key}=([^\s}}]+)", source)
        if hit:
            found[key] = hit.group(1)
    return found


def differences(tunnel: Tunnel, sa: dict[str, str]) -> list[str]:
    """Where the SA is not the policy's tunnel; empty when it is."""
    wanted = {
        "version": "1" if tunnel.key_exchange == "ikev1" else "2",
        "state": "INSTALLED",
        "mode": "TUNNEL",
        "encr-alg": _ENCRYPTION[tunnel.encryption][2],
    }
    if tunnel.integrity in _INTEGRITY:
        wanted["integ-alg"] = _INTEGRITY[tunnel.integrity]
    return [
        f"{key} is {sa.get(key, 'missing')}, not {value}"
        for key, value in wanted.items()
        if sa.get(key) != value
    ]


def parse_octets(text: str, ends: set[str]) -> int:
    """Octets of the ESP security associations between two ends, from ``ip -s xfrm state``."""
    total, ours = 0, False
    for line in text.splitlines():
        words = line.split()
        if line.startswith("src ") and len(words) >= 4:
            ours = {words[1], words[3]} == ends
        elif ours and (hit := _CURRENT.match(line)):
            total += int(hit.group(1))
    return total


def parse_keys(text: str) -> list[dict[str, str]]:
    """ESP security associations with their keys, from ``ip xfrm state``."""
    found: list[dict[str, str]] = []
    for line in text.splitlines():
        words = line.split()
        if line.startswith("src ") and len(words) >= 4:
            found.append({"kind": "esp", "source": words[1], "destination": words[3]})
        elif found and words[:2] == ["proto", "esp"]:
            found[-1]["spi"] = words[words.index("spi") + 1]
        elif found and words and words[0] in ("enc", "auth-trunc", "auth", "aead"):
            name = "auth" if words[0].startswith("auth") else words[0]
            key = words[2] if len(words) > 2 and words[2].startswith("0x") else ""
            found[-1][name] = words[1]
            found[-1][f"{name}-key"] = key
    return [state for state in found if "spi" in state]
