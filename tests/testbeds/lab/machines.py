"""Hosts of a laboratory on this machine: namespaces with an sshd and a /run of their own.

A machine has network, process and mount namespaces of its own, so that a power cut ends its
processes and empties its /run, as a reboot does. It sees neither the files of this package nor
those of the user, whose shell would read some at every command. A switch in a namespace joins
their cables; another one joins them to the runner.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import airtoll

TOOLS = ("ip", "unshare", "iperf3", "irtt", "ping", "ssh-keygen", "ssh-keyscan")
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
#: The package's files, which a machine does not have.
_HIDDEN = Path(airtoll.__file__).resolve().parent.parent


def missing() -> str | None:
    """Why there can be no machines here, or None."""
    if os.geteuid() != 0:
        return "needs root for namespaces"
    absent = [tool for tool in (*TOOLS, "sshd") if shutil.which(tool, path=_PATH) is None]
    return f"needs {', '.join(absent)}" if absent else None


def command(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)


class Machine:
    """One host. ``number``: ends its addresses, of the link under test and of the way to it."""

    def __init__(self, name: str, space: str, number: int, folder: Path) -> None:
        self.name, self.space, self.folder = name, space, folder
        self.ip, self.control = f"10.91.0.{number}", f"10.92.0.{number}"
        self._process: subprocess.Popen[bytes] | None = None
        (folder / f"sshd-{name}").write_text(
            f"ListenAddress {self.control}\nHostKey {folder}/host\nPidFile none\n"
            f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\nPermitRootLogin prohibit-password\n"
        )

    def switch_on(self) -> None:
        """Boot: a fresh /run, and an sshd that listens when this returns."""
        sshd = shutil.which("sshd", path=_PATH)
        script = (
            "mount -t tmpfs run /run && mkdir /run/sshd && "
            f"mount -t tmpfs hidden {_HIDDEN} && mount -t tmpfs home {Path.home()} && "
            f"exec {sshd} -D -E {self.folder}/sshd-{self.name}.log "
            f"-f {self.folder}/sshd-{self.name}"
        )
        self._process = subprocess.Popen(
            [
                *("ip", "netns", "exec", self.space),
                *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
                *("sh", "-c", script),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        give_up = time.monotonic() + 20
        probe = ["ip", "netns", "exec", self.space, "ssh-keyscan", "-T", "2", self.control]
        while not subprocess.run(probe, capture_output=True, check=False).stdout:
            if time.monotonic() > give_up or self._process.poll() is not None:
                pytest.skip(f"{self.name}: its sshd does not start here")
            time.sleep(0.05)

    def cut_power(self) -> None:
        """End everything on the machine at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def plug(self, cable: str, state: str) -> None:
        """Pull out or plug in ``test0`` or ``control0``: down or up."""
        command("ip", "-n", self.space, "link", "set", cable, state)


class Machines:
    """The machines of a test, and the namespace in which the runner is."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        self._head = f"airtoll-lab-{os.getpid()}"
        self.runner = f"{self._head}-runner"
        self._spaces: list[str] = []
        self.of: dict[str, Machine] = {}
        for key in ("host", "user"):
            command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key))
        shutil.copy(folder / "user.pub", folder / "authorized")
        self._space(self.runner)
        self._space(f"{self._head}-switch")
        self._bridge(f"{self._head}-switch", "test")
        self._bridge(self.runner, "control")
        command("ip", "-n", self.runner, "addr", "add", "10.92.0.1/24", "dev", "control")
        for number, name in enumerate(names, start=11):
            space = f"{self._head}-{name}"
            self._space(space)
            self.of[name] = machine = Machine(name, space, number, folder)
            self._cable(f"{self._head}-switch", "test", space, number, machine.ip)
            self._cable(self.runner, "control", space, number, machine.control)
            machine.switch_on()
        key = (folder / "host.pub").read_text().split()[:2]
        known = [f"{one.control} {' '.join(key)}\n" for one in self.of.values()]
        (folder / "known").write_text("".join(known))

    def _space(self, name: str) -> None:
        done = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
        if done.returncode:
            pytest.skip(f"no network namespaces here: {done.stderr.decode().strip()}")
        self._spaces.append(name)
        command("ip", "-n", name, "link", "set", "lo", "up")

    def _bridge(self, space: str, name: str) -> None:
        command("ip", "-n", space, "link", "add", name, "type", "bridge")
        command("ip", "-n", space, "link", "set", name, "up")

    def _cable(self, near: str, bridge: str, far: str, number: int, address: str) -> None:
        port, end = f"{bridge}{number}", f"{bridge}0"
        ends = ("type", "veth", "peer", "name", end, "netns", far)
        command("ip", "-n", near, "link", "add", port, *ends)
        command("ip", "-n", near, "link", "set", port, "master", bridge, "up")
        command("ip", "-n", far, "addr", "add", f"{address}/24", "dev", end)
        command("ip", "-n", far, "link", "set", end, "up")

    def lab_file(self, server: str, stations: Sequence[str], more: str = "") -> Path:
        """A lab file with cables in place of radios."""
        text = f'[lab]\nname = "namespaces"\n{more}\n'
        for name in (server, *stations):
            machine = self.of[name]
            role = "server" if name == server else "station"
            text += (
                f'[host.{name}]\nrole = "{role}"\naddress = "root@{machine.control}"\n'
                f'ip = "{machine.ip}"\nidentity = "{self.folder}/user"\n'
                f'known_hosts = "{self.folder}/known"\n'
            )
            if name != server:
                text += 'link = "cable"\ninterface = "test0"\n'
        path = self.folder / "lab.toml"
        path.write_text(text)
        return path

    def close(self) -> None:
        for machine in self.of.values():
            machine.cut_power()
        for space in reversed(self._spaces):
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)


@contextlib.contextmanager
def machines(folder: Path, *names: str) -> Iterator[Machines]:
    """Machines with these names; skips where there can be none."""
    if (why := missing()) is not None:
        pytest.skip(why)
    pytest.importorskip("asyncssh")
    made = None
    try:
        made = Machines(folder, names)
        yield made
    finally:
        if made is not None:
            made.close()


def end(process: subprocess.Popen[str]) -> None:
    """End a process that a test started."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.wait()
