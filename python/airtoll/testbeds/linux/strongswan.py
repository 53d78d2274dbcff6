"""strongSwan: one charon per host, and an ESP tunnel in tunnel mode between two of them.

Takes a tunnel of the catalogue and two ends; gives an established SA whose algorithms were read
back. Never uses the configuration in /etc: every charon has its own strongswan.conf and its own
vici socket.

Option names: strongSwan 5.9, strongswan.conf(5) and swanctl.conf(5).
"""

from __future__ import annotations

import asyncio
import re
from typing import Final

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.policies import Tunnel
from airtoll.testbeds.linux.hosts import Host, Process

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


@frozen
class End:
    """One end: its daemon, name, outer address and inner addresses (IPv4 and IPv6)."""

    charon: Charon
    name: str
    outer: str
    inner: str
    inner6: str


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
    process = await host.start(
        ["charon-systemd"],
        log=f"{base}/start.log",
        env={"STRONGSWAN_CONF": f"{base}/strongswan.conf"},
    )
    await host.wait_for(socket, limit_s, process)
    return Charon(host, process, f"unix://{socket}", base)


async def up(tunnel: Tunnel, near: End, far: End, secret: str) -> list[dict[str, str]]:
    """Negotiate the tunnel from ``near``; gives the ESP keys for the key log.

    Raises :class:`TunnelError` with the daemon's reason, or when the SA that came about uses
    other algorithms than the policy's.
    """
    await asyncio.gather(_load(tunnel, near, far, secret), _load(tunnel, far, near, secret))
    told = await near.charon.swanctl(
        "--initiate", "--child", "tunnel", "--timeout", "60", check=False, limit_s=120
    )
    if "initiate completed successfully" not in told:
        lines = [line for line in told.strip().splitlines() if line]
        raise TunnelError(f"{near.name}: IKE failed: {lines[-1] if lines else 'no message'}")
    sa = parse_sa(await near.charon.swanctl("--list-sas", "--raw"))
    wrong = differences(tunnel, sa)
    if wrong:
        raise TunnelError(f"{near.name}: the tunnel is not the policy's: {'; '.join(wrong)}")
    states = await near.charon.host.run(["ip", "xfrm", "state"])
    return parse_keys(states.stdout)


async def _load(tunnel: Tunnel, end: End, other: End, secret: str) -> None:
    path = f"{end.charon.folder}/swanctl.conf"
    host = end.charon.host
    await host.put(path, configuration(tunnel, end, other, secret))
    await end.charon.swanctl("--load-all", "--file", path)
    for address in (f"{end.inner}/32", f"{end.inner6}/128"):
        await host.run(["ip", "addr", "replace", address, "dev", "lo"])


async def down(near: End, far: End) -> None:
    """Delete the SAs and what was loaded."""
    await near.charon.swanctl("--terminate", "--ike", "airtoll", "--timeout", "5", check=False)
    for end in (near, far):
        await end.charon.host.run(["ip", "xfrm", "state", "flush"], check=False)
        await end.charon.host.run(["ip", "xfrm", "policy", "flush"], check=False)
        for address in (f"{end.inner}/32", f"{end.inner6}/128"):
            await end.charon.host.run(["ip", "addr", "del", address, "dev", "lo"], check=False)


def proposals(tunnel: Tunnel) -> tuple[str, str]:
    """The IKE and the ESP proposal of a tunnel of the catalogue."""
    ike, esp, _ = _ENCRYPTION[tunnel.encryption]
    if tunnel.encryption == "aes-gcm":
        return f"{ike}-sha256-modp2048", esp
    old = tunnel.encryption in ("des", "3des")
    group = "modp1024" if old else "modp2048"
    hashed = tunnel.integrity if old else "sha256"
    return f"{ike}-{hashed}-{group}", f"{esp}-{tunnel.integrity}"


def configuration(tunnel: Tunnel, end: End, other: End, secret: str) -> str:
    """The text of swanctl.conf for one end."""
    ike, esp = proposals(tunnel)
    version = 1 if tunnel.key_exchange == "ikev1" else 2
    # IKEv1 carries one traffic selector per SA; IPv6 in the tunnel needs IKEv2.
    near = end.inner if version == 1 else f"{end.inner}/32, {end.inner6}/128"
    far = other.inner if version == 1 else f"{other.inner}/32, {other.inner6}/128"
    return f"""connections {{
  airtoll {{
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
      tunnel {{
        local_ts = {near}
        remote_ts = {far}
        esp_proposals = {esp}
      }}
    }}
  }}
}}
secrets {{
  ike-airtoll {{
    id-1 = {end.name}
    id-2 = {other.name}
    secret = "{secret}"
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
