"""Our IKEv1 and IKEv2 against charon, each in a namespace of its own."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

OURS, THEIRS = "10.77.0.1", "10.77.0.2"
PLUGINS = (
    "random nonce openssl des md5 sha1 sha2 hmac aes gcm kdf gmp pem x509 pubkey pkcs1 pkcs8 "
    "kernel-libipsec kernel-netlink socket-default vici"
)


class Charon:
    """A running IKE daemon with one connection to us, and our socket."""

    def __init__(self, daemon: Any, spaces: tuple[Any, Any], folder: Path) -> None:
        self.daemon, (self.near, self.far), self.folder = daemon, spaces, folder
        self.log = folder / "charon.log"
        self.sock = self.near.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind((OURS, 500))

    def swanctl(self, *arguments: str, check: bool = True) -> str:
        return str(
            self.far.run(
                "env",
                f"STRONGSWAN_CONF={self.folder}/strongswan.conf",
                "swanctl",
                *arguments,
                "--uri",
                f"unix://{self.folder}/vici",
                check=check,
            )
        )

    def load(self, version: int, ike: str, esp: str, secret: str) -> None:
        (self.folder / "swanctl.conf").write_text(f"""connections {{
  ours {{
    version = {version}
    local_addrs = {THEIRS}
    remote_addrs = {OURS}
    proposals = {ike}
    local {{
      auth = psk
      id = {THEIRS}
    }}
    remote {{
      auth = psk
      id = {OURS}
    }}
    children {{
      tunnel {{
        local_ts = {THEIRS}/32
        remote_ts = {OURS}/32
        esp_proposals = {esp}
        mode = tunnel
      }}
    }}
  }}
}}
secrets {{
  ike-1 {{
    id-1 = {THEIRS}
    id-2 = {OURS}
    secret = "{secret}"
  }}
}}
""")
        self.swanctl("--load-all", "--file", str(self.folder / "swanctl.conf"))

    def words(self) -> str:
        return self.log.read_text(errors="replace")


@pytest.fixture
def charon(
    peers: Any, namespace: Callable[[str], Any], start: Callable[..., Any], tmp_path: Path
) -> Iterator[Charon]:
    program = peers.needs("charon-systemd", "swanctl")["charon-systemd"]
    near, far = namespace("a"), namespace("b")
    near.run("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", far.name)
    for space, address in ((near, OURS), (far, THEIRS)):
        space.run("ip", "addr", "add", f"{address}/24", "dev", "v0")
        space.run("ip", "link", "set", "v0", "up")
    (tmp_path / "strongswan.conf").write_text(
        f"charon-systemd {{\n  load = {PLUGINS}\n  plugins {{\n    vici {{\n"
        f"      socket = unix://{tmp_path}/vici\n    }}\n  }}\n"
        "  journal {\n    default = -1\n  }\n"
        f"  filelog {{\n    main {{\n      path = {tmp_path}/charon.log\n      default = 2\n"
        "      chd = 4\n      ike = 4\n      flush_line = yes\n    }\n  }\n"
        "  install_virtual_ip = no\n}\n"
        "swanctl {\n  load = random nonce openssl pem x509 pubkey pkcs1 pkcs8\n}\n"
    )
    variables = {"STRONGSWAN_CONF": f"{tmp_path}/strongswan.conf"}
    daemon = start([*far.prefix, program], "charon", variables)
    daemon.wait_for((tmp_path / "vici").exists)
    made = Charon(daemon, (near, far), tmp_path)
    yield made
    made.sock.close()


def hexdump(text: str, name: str) -> list[bytes]:
    """Every value that charon logged under a name."""
    found = []
    for match in re.finditer(rf"{re.escape(name)} => (\d+) bytes @[^\n]*\n", text):
        octets = b""
        for line in text[match.end() :].splitlines():
            dump = re.search(r"\[\w+\]\s+(?:<[^>]*>\s+)?\d+: ((?:[0-9A-F]{2} )+)", line)
            if dump is None or len(octets) >= int(match[1]):
                break
            octets += bytes.fromhex(dump[1])
        found.append(octets[: int(match[1])])
    return found


SECRET = "tunnel secret"


def v2(gcm: bool, group: int = 14, **more: Any) -> dict[str, Any]:
    addresses = [[int(part) for part in text.split(".")] for text in (OURS, THEIRS)]
    return {
        "handshake": "ike-v2",
        "preshared": SECRET,
        "group": group,
        "gcm": gcm,
        "addresses": addresses,
        **more,
    }


def test_charon_answers_our_ikev2(peers: Any, charon: Charon) -> None:
    charon.load(2, "aes128gcm16-prfsha256-modp2048", "aes128gcm16", SECRET)
    wire = peers.UdpWire("station", "gateway", "udp:500", charon.sock)
    wire.address = (THEIRS, 500)
    talk = peers.Conversation(v2(True), ["station"], [wire]).run(limit_s=6)
    print([(m[0][:3], len(m[3])) for m in talk.messages], talk.status("station"))
    print(charon.words()[-9000:])
    assert 0
