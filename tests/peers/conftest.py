"""Real peers for our handshakes: daemons started for one test, and sockets to them.

The state machines know no socket: ``conversation.py`` carries their octets.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import importlib.util
import itertools
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from airtoll import _native
from airtoll.study.join import SIGNATURES
from airtoll.testbeds.guest import uml_kernel
from airtoll.testbeds.guest.uml import Errand
from airtoll.testbeds.linux.daemons.credentials import USER, Chain

PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
CLONE_NEWNET = 0x40000000


def _module(name: str) -> Any:
    """A file of this folder as a module: the tests are no package."""
    full = f"airtoll_peers_{name}"
    spec = importlib.util.spec_from_file_location(full, Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    spec.loader.exec_module(module)
    return module


Conversation = _module("conversation").Conversation
FIXTURES = Path(__file__).parents[2] / "crates/airtoll-handshakes/src/tls/fixtures"


class UdpWire:
    """Datagrams between one of our parties and one of the daemon's."""

    def __init__(self, ours: str, theirs: str, carrier: str, sock: socket.socket) -> None:
        self.ours, self.theirs, self.carrier, self.sock = ours, theirs, carrier, sock
        self.address: Any = None

    def fileno(self) -> int:
        return self.sock.fileno()

    def take(self, message: tuple[str, str, str, bytes]) -> bool:
        sender, receiver, carrier, octets = message
        if (sender, receiver, carrier) != (self.ours, self.theirs, self.carrier):
            return False
        assert self.address is not None
        self.sock.sendto(octets, self.address)
        return True

    def give(self) -> list[tuple[str, str, str, bytes]]:
        octets, address = self.sock.recvfrom(65536)
        self.address = self.address or address
        return [(self.theirs, self.ours, self.carrier, octets)]


class Server(NamedTuple):
    """A real RADIUS server on loopback: its UDP port and what it prints."""

    port: int
    daemon: Daemon

    def talk(
        self, given: dict[str, Any], done: Callable[[Conversation], bool] | None = None
    ) -> Conversation:
        """Our station and access point, with this server behind them, until they are done."""
        with socket.socket(type=socket.SOCK_DGRAM) as sock:
            wire = UdpWire("access-point", "authentication-server", "radius", sock)
            wire.address = ("127.0.0.1", self.port)
            return Conversation(given, ["station", "access-point"], [wire]).run(done)


class Daemon:
    """A process of the test with a log; it ends with the test."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process, self.log = process, log

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, ready: Callable[[], bool], limit_s: float = 30.0) -> None:
        give_up = time.monotonic() + limit_s
        while not ready():
            gone = self.process.poll() is not None
            assert not gone, self.text()[-2000:]
            assert time.monotonic() < give_up, self.text()[-2000:]
            time.sleep(0.05)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGKILL)
                self.process.wait()


class Namespace:
    """A network namespace of its own, and sockets in it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.prefix = ["ip", "netns", "exec", name]

    def run(self, *argv: str, stdin: str = "", check: bool = True) -> str:
        done = subprocess.run(
            [*self.prefix, *argv],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": PATH},
        )
        assert done.returncode == 0 or not check, f"{argv}: {done.stdout}{done.stderr}"
        return done.stdout

    def socket(self, *arguments: int) -> socket.socket:
        """A socket that lives in the namespace, made by this thread."""
        libc = ctypes.CDLL(None, use_errno=True)
        with (
            Path(f"/run/netns/{self.name}").open() as there,
            Path("/proc/self/ns/net").open() as back,
        ):
            assert libc.setns(there.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
            try:
                return socket.socket(*arguments)
            finally:
                assert libc.setns(back.fileno(), CLONE_NEWNET) == 0


def checksum(octets: bytes) -> int:
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def echo(kind: int, source: str, target: str, rest: bytes = b"\x00\x07\x00\x01airtoll!") -> bytes:
    """An ICMP echo request (8) or reply (0) in an IPv4 packet."""
    icmp = bytes([kind, 0, 0, 0]) + rest
    icmp = icmp[:2] + struct.pack("!H", checksum(icmp)) + icmp[4:]
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(icmp), 1, 0, 64, 1, 0)
    head += socket.inet_aton(source) + socket.inet_aton(target)
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + icmp


def needs(*programs: str) -> dict[str, str]:
    """Program -> path; skips with the reason where one is not installed."""
    found = {name: shutil.which(name, path=PATH) for name in programs}
    missing = sorted(name for name, path in found.items() if path is None)
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (make system)")
    return {name: path for name, path in found.items() if path}


CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "airtoll"
BUILT = CACHE / "peers"


def built(program: str) -> str:
    """A program that ``tools/peers-from-source.sh`` builds; skips with the reason without it."""
    path = BUILT / program
    if not path.is_file():
        pytest.skip(f"{program} is not built from Debian's source package (make system)")
    return str(path)


def of_debian(number: int, program: str, folder: Path) -> list[str]:
    """The start of an argument list that runs a program of a Debian release and sees ``folder``.

    The mounts live in a mount namespace of the process and end with it.
    """
    root = CACHE / f"debian-{number}"
    if not root.is_dir():
        pytest.skip(f"the peers of Debian {number} are not unpacked (make system)")
    if os.geteuid() != 0:
        pytest.skip("chroot needs root")
    mounts = " && ".join(
        f"mkdir -p '{root}{place}' && mount --rbind '{place}' '{root}{place}'"
        for place in ("/dev", "/proc", str(folder))
    )
    enter = f'{mounts} && exec chroot "$0" "$@"'
    return ["unshare", "--mount", "sh", "-c", enter, str(root), program]


def debian_13(program: str, folder: Path) -> list[str]:
    """The start of an argument list that runs a program of Debian 13: daemons with OpenSSL 3.5."""
    return of_debian(13, program, folder)


def free_port(kind: int = socket.SOCK_DGRAM) -> int:
    with socket.socket(type=kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def pem(name: str) -> str:
    """A committed certificate or key of the handshakes, as PEM."""
    return armoured(name, (FIXTURES / f"{name}.der").read_bytes())


def armoured(name: str, der: bytes) -> str:
    """A certificate, or a key where its name says so, as PEM."""
    kind = "PRIVATE KEY" if name.endswith(".key") else "CERTIFICATE"
    text = base64.encodebytes(der).decode().replace("\n", "")
    lines = "\n".join(text[at : at + 64] for at in range(0, len(text), 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


def eap_settings(method: str, tls: str, chain: str, **more: Any) -> dict[str, Any]:
    """Settings of an EAP handshake; ``more`` overrides."""
    return {
        "handshake": "eap",
        "method": method,
        "tls": tls,
        "chain": algorithms(chain),
        "identity": USER,
        "password": "correct horse",
        "radius_secret": "radius secret",
        "fragment_octets": 994,
        "station": "02:00:00:00:00:01",
        "access_point": "02:00:00:00:00:02",
        **more,
    }


def algorithms(chain: str) -> list[str]:
    """The signature algorithms of a study's ``join.chain``, from leaf to root."""
    names = [SIGNATURES[name] for name in chain.split("+")]
    return names * 3 if len(names) == 1 else names


def issued(chain: str) -> Chain:
    """The certificates of a study's ``join.chain``, for daemons."""
    texts: dict[str, str] = {}
    for name, der in _native.test_certificates(json.dumps(algorithms(chain))):
        texts[name] = texts.get(name, "") + armoured(name, der)
    return Chain(
        authority=texts["root"],
        server=texts["server"],
        server_key=texts["server.key"],
        client=texts["client"],
        client_key=texts["client.key"],
    )


def chain_of(kind: str | Sequence[str]) -> Chain:
    """The committed certificates of a kind, or of a handshake's chain of one kind, for daemons."""
    if not isinstance(kind, str):
        kind = next(name for name, algorithm in SIGNATURES.items() if algorithm == kind[0])
    stem = {"rsa2048": "rsa"}.get(kind, kind)
    issuing = pem(f"{stem}-issuing")
    return Chain(
        authority=pem(f"{stem}-root"),
        server=pem(f"{stem}-server") + issuing,
        server_key=pem(f"{stem}-server.key"),
        client=pem(f"{stem}-client") + issuing,
        client_key=pem(f"{stem}-client.key"),
    )


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Daemon]]:
    """Starts daemons that end with the test, the latest first."""
    with contextlib.ExitStack() as stack:

        def begin(argv: Sequence[str], name: str, env: Mapping[str, str] | None = None) -> Daemon:
            log = tmp_path / f"{name}.log"
            with log.open("wb") as out:
                process = subprocess.Popen(
                    list(argv),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "PATH": PATH, **(env or {})},
                )
            daemon = Daemon(process, log)
            stack.callback(daemon.stop)
            return daemon

        yield begin


@pytest.fixture
def namespace() -> Iterator[Callable[[str], Namespace]]:
    """Makes network namespaces with their loopback up; skips where that is not allowed."""
    needs("ip")
    made: list[str] = []

    def make(label: str) -> Namespace:
        name = f"airtoll-peers-{os.getpid()}-{label}"
        done = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
        if done.returncode:
            pytest.skip(f"no network namespaces here: {done.stderr.decode().strip()}")
        made.append(name)
        space = Namespace(name)
        space.run("ip", "link", "set", "lo", "up")
        return space

    yield make
    for name in reversed(made):
        subprocess.run(["ip", "netns", "del", name], check=True)


@pytest.fixture
def in_virtual_time(tmp_path: Path) -> Callable[[str, object], Any]:
    """Calls ``module:function`` of this folder with one JSON value, each in a guest of its own.

    Time passes there only while everything waits, so that a busy host makes nothing late.
    """
    if uml_kernel.find() is None:
        pytest.skip("needs `airtoll guest build --driver uml`")
    numbers = itertools.count()

    def call(function: str, argument: object) -> Any:
        errand = Errand(tmp_path / f"guest-{next(numbers)}", modules=Path(__file__).parent)
        return errand.carry_out(function, argument, seed=1, limit_s=120)

    return call


@pytest.fixture
def peers() -> Any:
    """Shared code of this folder's tests, because test files cannot import one another."""
    return types.SimpleNamespace(
        Conversation=Conversation,
        Server=Server,
        UdpWire=UdpWire,
        algorithms=algorithms,
        chain_of=chain_of,
        debian_13=debian_13,
        of_debian=of_debian,
        issued=issued,
        echo=echo,
        eap_settings=eap_settings,
        free_port=free_port,
        needs=needs,
        built=built,
        pem=pem,
    )
