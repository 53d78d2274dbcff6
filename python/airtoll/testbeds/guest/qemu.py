"""QEMU driver: start the guest, talk to its agent, stop it whatever happens.

Takes an unpacked kernel and a share folder; gives a running :class:`Guest`. Uses KVM when that
has proved itself on this machine, software emulation (TCG) otherwise. Never needs root, never
leaves a QEMU behind: its agent powers off when the connection closes, and :func:`clean` ends
what a killed owner left.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import queue
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

import psutil
from attrs import frozen

import airtoll
from airtoll.errors import EnvironmentProblem, TestbedError
from airtoll.testbeds.guest import agent, initramfs, kernel

#: Emulated boots take 11-19 s on two busy cores; a loaded machine takes several times that.
BOOT_LIMIT_S: Final = 240.0
KVM_PROBE_LIMIT_S: Final = 8.0
STOP_LIMIT_S: Final = 10.0
#: The accelerator whose guest counts instructions for a clock.
ICOUNT: Final = "tcg-icount"
#: How many seconds of the host a busy second of such a guest may take, in the mean. Seen: 9 beside
#: nine other busy processes on two cores.
DILATION_LIMIT: Final = 10.0


class GuestError(TestbedError):
    """The guest did not start, died, or its agent reported a failure."""


@frozen
class Completed:
    """A command that ended: exit status, standard output and standard error."""

    status: int
    stdout: bytes
    stderr: bytes


class Guest:
    """A running guest. Use as a context manager; leaving it stops QEMU.

    ``share``: folder on the host that the guest sees, writable, at ``/run/airtoll-share``.
    ``accelerator``: kvm, tcg, or tcg-icount; None: KVM where it works, else TCG.

    tcg-icount dilates time: the guest's clock counts instructions, one a nanosecond, and stands
    still while the host is busy elsewhere. Inside, the CPU is always equally fast, whatever else
    the host does and however long it takes; while the guest idles, its clock is the host's.
    """

    def __init__(
        self, share: Path, *, memory_mib: int = 1024, cpus: int = 2, accelerator: str | None = None
    ) -> None:
        found = kernel.find()
        if found is None:
            raise EnvironmentProblem("guest: no kernel in the cache: airtoll guest build")
        self._kernel = found
        self._archive = initramfs.build(found)
        self.share = share
        self.accelerator = accelerator or ("kvm" if kvm_works(found, self._archive) else "tcg")
        self._memory_mib = memory_mib
        # Instructions are counted on one CPU only.
        self._cpus = 1 if self.dilated else cpus
        self._qemu: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._stream: IO[bytes] | None = None
        self._lock = threading.Lock()
        self._next = 0
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._folder: Path | None = None
        self.hello: dict[str, Any] = {}

    @property
    def dilated(self) -> bool:
        """Whether the guest's clock counts instructions."""
        return self.accelerator == ICOUNT

    @property
    def patience(self) -> float:
        """By how much limits of the guest's own time are stretched on the host's clock."""
        return DILATION_LIMIT if self.dilated else 1.0

    @property
    def kernel_release(self) -> str:
        """The guest kernel's release, as ``uname -r`` says there."""
        return self._kernel.release

    @property
    def pid(self) -> int:
        """The process id of QEMU."""
        if self._qemu is None:
            raise GuestError("guest: not started")
        return self._qemu.pid

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _start(self) -> None:
        clean()
        self.share.mkdir(parents=True, exist_ok=True)
        # A socket path may have 107 octets at most, and a share can lie deep.
        self._folder = Path(tempfile.mkdtemp(prefix="guest-", dir=_running_folder()))
        _write_owner(self._folder)
        (self.share / "start.sh").write_text(_start_script())
        port = self._folder / "agent.sock"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(port))
        listener.listen(1)
        console = self.share / "console.log"
        self._qemu = subprocess.Popen(
            _command(
                self._kernel,
                self._archive,
                accelerator=self.accelerator,
                memory_mib=self._memory_mib,
                cpus=self._cpus,
                console=console,
                share=self.share,
                port=port,
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self._folder / "qemu.err").open("wb"),
            start_new_session=True,
        )
        (self._folder / "qemu.pid").write_text(_identity(self._qemu.pid))
        with listener:
            self._socket = self._accept(listener)
        self._stream = self._socket.makefile("rb")
        limit_s = BOOT_LIMIT_S * (3 if self.dilated else 1)
        self._socket.settimeout(limit_s)
        try:
            line = self._stream.readline()
        except TimeoutError as error:
            raise GuestError(
                f"guest: no agent within {limit_s:.0f} s: {self._last_words()}"
            ) from error
        if not line:
            raise GuestError(f"guest: died while it booted: {self._last_words()}")
        self._socket.settimeout(None)
        self.hello = json.loads(line)
        threading.Thread(target=self._listen, daemon=True).start()

    def _accept(self, listener: socket.socket) -> socket.socket:
        listener.settimeout(0.2)
        while True:
            with contextlib.suppress(TimeoutError):
                return listener.accept()[0]
            if self._qemu is None or self._qemu.poll() is not None:
                raise GuestError(f"guest: qemu did not start: {self._last_words()}")

    def _last_words(self) -> str:
        for path in (self._folder and self._folder / "qemu.err", self.share / "console.log"):
            if path and path.exists():
                lines = path.read_text(errors="replace").strip().splitlines()
                if lines:
                    return lines[-1].strip()
        return "it said nothing"

    def _listen(self) -> None:
        stream = self._stream
        try:
            while stream is not None and (line := stream.readline()):
                answer = json.loads(line)
                waiting = self._answers.get(answer.get("id", -1))
                if waiting is not None:
                    waiting.put(answer)
        except (OSError, ValueError):
            pass
        for waiting in list(self._answers.values()):
            waiting.put({"error": {"kind": "GuestError", "message": "the guest died"}})

    def _send(self, message: dict[str, Any]) -> None:
        if self._socket is None:
            raise GuestError("guest: not started")
        try:
            with self._lock:
                self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise GuestError(f"guest: the guest died: {self._last_words()}") from error

    @contextlib.contextmanager
    def _request(self, op: str, **fields: Any) -> Iterator[tuple[int, queue.Queue[dict[str, Any]]]]:
        with self._lock:
            self._next += 1
            number = self._next
        answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._answers[number] = answers
        try:
            self._send({"id": number, "op": op, **fields})
            yield number, answers
        finally:
            del self._answers[number]

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes | None = None,
        timeout_s: float | None = None,
        on_output: Callable[[str, bytes], None] | None = None,
    ) -> Completed:
        """Run a command in the guest and wait for it.

        ``on_output`` is called with "stdout" or "stderr" and each chunk as it comes. Raises
        :class:`GuestError` when the command cannot start, takes longer than ``timeout_s``, or
        the guest dies.
        """
        parts: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        data = None if stdin is None else base64.b64encode(stdin).decode()
        fields: dict[str, Any] = {"argv": list(argv), "stdin": data, "timeout_s": timeout_s}
        with self._request("run", **fields) as (number, answers):
            while True:
                try:
                    answer = answers.get()
                except KeyboardInterrupt:
                    self._send({"id": 0, "op": "cancel", "target": number})
                    raise
                if "stream" in answer:
                    chunk = base64.b64decode(answer["data"])
                    parts[answer["stream"]].append(chunk)
                    if on_output is not None:
                        on_output(answer["stream"], chunk)
                elif "error" in answer:
                    raise GuestError(f"guest: {argv[0]}: {answer['error']['message']}")
                else:
                    return Completed(
                        answer["exit"], b"".join(parts["stdout"]), b"".join(parts["stderr"])
                    )

    def call(self, function: str, argument: Any, *, timeout_s: float | None = None) -> Any:
        """Call ``package.module:function`` of airtoll in the guest with one JSON value.

        Raises :class:`GuestError` with the error's own message; its ``kind`` is the class name.
        """
        with self._request("call", function=function, argument=argument) as (_, answers):
            try:
                answer = answers.get(timeout=timeout_s)
            except queue.Empty:
                raise GuestError(f"guest: {function} took longer than {timeout_s} s") from None
        if "error" in answer:
            detail = answer["error"]
            failure = GuestError(detail["message"])
            failure.kind = detail["kind"]  # type: ignore[attr-defined]
            if "trace" in detail:
                failure.add_note(detail["trace"])
            raise failure
        return answer["result"]

    def shell(self, argv: Sequence[str], write: Callable[[bytes], None], source: IO[bytes]) -> int:
        """Run an interactive program on a terminal of the guest; gives its exit status."""
        size = shutil.get_terminal_size()
        fields = {"argv": list(argv), "rows": size.lines, "columns": size.columns}
        with self._request("shell", **fields) as (number, answers):

            def feed() -> None:
                while chunk := os.read(source.fileno(), 4096):
                    data = base64.b64encode(chunk).decode()
                    self._send({"id": 0, "op": "input", "target": number, "data": data})

            threading.Thread(target=feed, daemon=True).start()
            while True:
                answer = answers.get()
                if "stream" in answer:
                    write(base64.b64decode(answer["data"]))
                elif "error" in answer:
                    raise GuestError(f"guest: {argv[0]}: {answer['error']['message']}")
                else:
                    return int(answer["exit"])

    def stop(self) -> None:
        """Power the guest off; by force if it does not go. Safe to call twice."""
        if self._qemu is not None:
            if self._qemu.poll() is None and self._socket is not None:
                with contextlib.suppress(GuestError):
                    self._send({"id": 0, "op": "off"})
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._qemu.wait(STOP_LIMIT_S)
            if self._qemu.poll() is None:
                self._qemu.kill()
            self._qemu.wait()
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def kvm_works(found: kernel.Kernel, archive: Path, *, remember: bool = True) -> bool:
    """Whether KVM really runs a guest here: it may open, create a machine and then hang.

    The answer is kept in the cache for this host kernel and this QEMU.
    """
    device = Path("/dev/kvm")
    if not os.access(device, os.R_OK | os.W_OK):
        return False
    notes = kernel.cache_folder() / "kvm.json"
    key = f"{os.uname().release} {_boot_id()} {_qemu_version()}"
    if remember and notes.exists():
        with contextlib.suppress(ValueError, OSError):
            known = json.loads(notes.read_text())
            if key in known:
                return bool(known[key])
    argv = [
        _qemu_program(),
        *("-M", "q35", "-accel", "kvm", "-cpu", "host", "-m", "256M", "-nodefaults"),
        *("-display", "none", "-no-reboot", "-kernel", str(found.image), "-initrd", str(archive)),
        *("-append", "quiet panic=-1 airtoll.probe"),
    ]
    probe = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        works = probe.wait(KVM_PROBE_LIMIT_S) == 0
    except subprocess.TimeoutExpired:
        works = False
    finally:
        probe.kill()
        probe.wait()
    if remember:
        notes.write_text(json.dumps({key: works}))
    return works


def clean() -> list[str]:
    """End guests whose owner is gone and remove what they left; gives their names."""
    ended: list[str] = []
    for folder in _running_folder().glob("guest-*"):
        owner = folder / "owner"
        if owner.exists() and _alive(owner.read_text()):
            continue
        pid_file = folder / "qemu.pid"
        if pid_file.exists() and _alive(identity := pid_file.read_text()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(identity.split()[0]), signal.SIGKILL)
        elif not owner.exists() and time.time() - folder.stat().st_mtime < 5:
            continue  # another airtoll is just starting it
        shutil.rmtree(folder, ignore_errors=True)
        ended.append(folder.name)
    return ended


def _command(
    found: kernel.Kernel,
    archive: Path,
    *,
    accelerator: str,
    memory_mib: int,
    cpus: int,
    console: Path,
    share: Path,
    port: Path,
) -> list[str]:
    accel = {
        "tcg": "tcg,thread=multi,tb-size=512",
        ICOUNT: "tcg,thread=single,tb-size=512",
    }.get(accelerator, accelerator)
    clock = ["-icount", "shift=0,sleep=on"] if accelerator == ICOUNT else []
    p9 = "security_model=none,multidevs=remap"
    append = (
        "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr random.trust_cpu=on "
        f"airtoll.modules={found.modules}"
    )
    nice = [] if accelerator == "kvm" else ["nice", "-n", "4"]
    return [
        *nice,
        _qemu_program(),
        *("-M", "q35", "-accel", accel, "-cpu", "max", "-smp", str(cpus), "-m", f"{memory_mib}M"),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-serial", f"file:{console}"),
        *("-fsdev", f"local,id=root,path=/,readonly=on,{p9}"),
        *("-device", f"virtio-9p-pci,fsdev=root,mount_tag={initramfs.ROOT_TAG}"),
        *("-fsdev", f"local,id=share,path={share.resolve()},{p9}"),
        *("-device", f"virtio-9p-pci,fsdev=share,mount_tag={initramfs.SHARE_TAG}"),
        *("-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={port}"),
        *("-device", f"virtserialport,chardev=agent,name={agent.PORT_NAME}"),
        *("-device", "virtio-rng-pci"),
        *clock,
        *("-kernel", str(found.image), "-initrd", str(archive), "-append", append),
    ]


def _start_script() -> str:
    package_root = Path(airtoll.__file__).resolve().parent.parent
    agent_file = Path(agent.__file__).resolve()
    exports = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "PYTHONPATH": str(package_root),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AIRTOLL_GUEST": "1",
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in exports.items()]
    # -P: the agent's own folder must not come before the standard library.
    command = f"exec {shlex.quote(sys.executable)} -P {shlex.quote(str(agent_file))}"
    tty = "exec </dev/null >/dev/ttyS0 2>&1"
    return "\n".join([*lines, "ip link set lo up", tty, command, ""])


def _qemu_program() -> str:
    program = shutil.which("qemu-system-x86_64")
    if program is None:
        raise EnvironmentProblem(
            "guest: qemu-system-x86_64 is missing: "
            "apt-get install --no-install-recommends qemu-system-x86"
        )
    return program


def _qemu_version() -> str:
    done = subprocess.run(
        [_qemu_program(), "--version"], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()[0]


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _running_folder() -> Path:
    base = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    folder = base / f"airtoll-{os.getuid()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _identity(pid: int) -> str:
    return f"{pid} {psutil.Process(pid).create_time()}"


def _write_owner(folder: Path) -> None:
    (folder / "owner").write_text(_identity(os.getpid()))


def _alive(identity: str) -> bool:
    """Whether the very process is running: a pid alone may have been given to another."""
    pid, created = identity.split()
    try:
        process = psutil.Process(int(pid))
        return process.create_time() == float(created) and process.status() != "zombie"
    except psutil.NoSuchProcess:
        return False
