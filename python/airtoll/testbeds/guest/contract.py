"""The contract of every guest: a machine with an agent behind a stream.

Takes what a driver starts (QEMU, User-Mode-Linux); gives commands, calls and a shell in it. Never
leaves a machine behind: its agent powers off when the stream closes, and :func:`clean` ends what a
killed owner left.

Every guest sees the host's files read-only beneath an overlay that is gone with it, and one folder
of the host, writable, at ``SHARE_IN_GUEST``.
"""

from __future__ import annotations

import abc
import base64
import contextlib
import json
import os
import queue
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from attrs import frozen

import airtoll
from airtoll.errors import EnvironmentProblem, TestbedError
from airtoll.testbeds.guest import agent

SHARE_IN_GUEST: Final = "/run/airtoll-share"
STOP_LIMIT_S: Final = 10.0


class GuestError(TestbedError):
    """The guest did not start, died, or its agent reported a failure."""


@frozen
class Completed:
    """A command that ended: exit status, standard output and standard error."""

    status: int
    stdout: bytes
    stderr: bytes


class Guest(abc.ABC):
    """A running guest. Use as a context manager; leaving it stops the machine.

    ``share``: folder on the host that the guest sees, writable, at ``SHARE_IN_GUEST``.
    """

    #: The emulator or hypervisor: kvm, tcg, tcg-icount or uml.
    accelerator: str
    #: How long it may take from the start to the agent's first word, seconds.
    boot_limit_s: float

    def __init__(self, share: Path) -> None:
        self.share = share
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._stream: IO[bytes] | None = None
        self._lock = threading.Lock()
        self._next = 0
        self._answers: dict[int, queue.Queue[agent.Answer]] = {}
        self._folder: Path | None = None
        self.hello: agent.Hello | None = None

    @property
    @abc.abstractmethod
    def kernel_release(self) -> str:
        """The guest kernel's release, as ``uname -r`` says there."""

    @abc.abstractmethod
    def _launch(self, folder: Path, console: Path) -> socket.socket:
        """Start the machine by :meth:`_spawn`; give the stream to its agent.

        ``folder`` lives as long as the guest. The machine's output goes to ``console``.
        """

    @property
    def dilated(self) -> bool:
        """Whether the guest's clock counts instructions."""
        return False

    @property
    def patience(self) -> float:
        """Factor from a limit in the guest's time to the host's clock."""
        return 1.0

    @property
    def clock(self) -> str:
        """The owner of this guest's clock and CPU times, for the run's record."""
        return "the host's"

    @property
    def pid(self) -> int:
        """The process id of the machine."""
        if self._process is None:
            raise GuestError("guest: not started")
        return self._process.pid

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

    def _prepare(self) -> Path:
        """A folder for the machine, with the owner's name for :func:`clean`."""
        clean()
        self.share.mkdir(parents=True, exist_ok=True)
        # A socket path may have 107 octets at most, and a share can lie deep.
        self._folder = _fresh_folder()
        (self._folder / "owner").write_text(identity(os.getpid()))
        return self._folder

    def _start(self) -> None:
        self._socket = self._launch(self._prepare(), self.share / "console.log")
        self._stream = self._socket.makefile("rb")
        self._socket.settimeout(self.boot_limit_s)
        try:
            line = self._stream.readline()
        except TimeoutError as error:
            raise GuestError(
                f"guest: no agent within {self.boot_limit_s:.0f} s: {self._last_words()}"
            ) from error
        if not line:
            raise GuestError(f"guest: died while it booted: {self._last_words()}")
        self._socket.settimeout(None)
        self.hello = json.loads(line)
        threading.Thread(target=self._listen, daemon=True).start()

    def _spawn(
        self, argv: Sequence[str], stdout: int | IO[bytes], **options: Any
    ) -> subprocess.Popen[bytes]:
        """Start the machine's process and note it for :func:`clean`."""
        assert self._folder is not None
        with (self._folder / "machine.err").open("wb") as errors:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=errors,
                start_new_session=True,
                **options,
            )
        (self._folder / "machine.pid").write_text(identity(self._process.pid))
        return self._process

    def _last_words(self) -> str:
        for path in (self._folder and self._folder / "machine.err", self.share / "console.log"):
            if path and path.exists():
                lines = path.read_text(errors="replace").strip().splitlines()
                if lines:
                    return lines[-1].strip()
        return "no output"

    def _listen(self) -> None:
        stream = self._stream
        try:
            while stream is not None and (line := stream.readline()):
                answer: agent.Answer = json.loads(line)
                waiting = self._answers.get(answer["id"])
                if waiting is not None:
                    waiting.put(answer)
        except (OSError, ValueError):
            pass
        for number, waiting in list(self._answers.items()):
            waiting.put({"id": number, "error": {"message": "the guest died"}})

    def _send(self, message: agent.Request) -> None:
        if self._socket is None:
            raise GuestError("guest: not started")
        try:
            with self._lock:
                self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise GuestError(f"guest: the guest died: {self._last_words()}") from error

    def _number(self) -> int:
        with self._lock:
            self._next += 1
            return self._next

    @contextlib.contextmanager
    def _sent(
        self, request: agent.Run | agent.Shell | agent.Call
    ) -> Iterator[queue.Queue[agent.Answer]]:
        """Send a request; gives the queue of its answers."""
        answers: queue.Queue[agent.Answer] = queue.Queue()
        self._answers[request["id"]] = answers
        try:
            self._send(request)
            yield answers
        finally:
            del self._answers[request["id"]]

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
        number = self._number()
        request = agent.Run(id=number, op="run", argv=list(argv), stdin=data, timeout_s=timeout_s)
        with self._sent(request) as answers:
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
                elif "exit" in answer:
                    return Completed(
                        answer["exit"], b"".join(parts["stdout"]), b"".join(parts["stderr"])
                    )

    def call(self, function: str, argument: object, *, timeout_s: float | None = None) -> object:
        """Call ``package.module:function`` of airtoll in the guest with one JSON value.

        Raises :class:`GuestError` with the error's own message.
        """
        request = agent.Call(id=self._number(), op="call", function=function, argument=argument)
        with self._sent(request) as answers:
            try:
                answer = answers.get(timeout=timeout_s)
            except queue.Empty:
                raise GuestError(f"guest: {function} took longer than {timeout_s} s") from None
        if "error" in answer:
            detail = answer["error"]
            failure = GuestError(detail["message"])
            if "trace" in detail:
                failure.add_note(detail["trace"])
            raise failure
        if "result" not in answer:
            raise GuestError(f"guest: {function} gave no result")
        return answer["result"]

    def shell(self, argv: Sequence[str], write: Callable[[bytes], None], source: IO[bytes]) -> int:
        """Run an interactive program on a terminal of the guest; gives its exit status."""
        size = shutil.get_terminal_size()
        number = self._number()
        request = agent.Shell(
            id=number, op="shell", argv=list(argv), rows=size.lines, columns=size.columns
        )
        with self._sent(request) as answers:

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
                elif "exit" in answer:
                    return answer["exit"]

    def stop(self) -> None:
        """Power the guest off; by force if it does not go. Safe to call twice."""
        process = self._process
        if process is not None:
            if process.poll() is None and self._socket is not None:
                with contextlib.suppress(GuestError):
                    self._send({"id": 0, "op": "off"})
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(STOP_LIMIT_S)
            if process.poll() is None:
                process.kill()
            process.wait()
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            _leave(self._folder.parent)
            self._folder = None


def clean() -> list[str]:
    """End guests whose owner is gone and remove what they left; gives their names."""
    ended: list[str] = []
    running = _running_folder()
    for folder in running.glob("guest-*"):
        owner = folder / "owner"
        if owner.exists() and alive(owner.read_text()):
            continue
        pid_file = folder / "machine.pid"
        if pid_file.exists() and alive(machine := pid_file.read_text()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(machine.split()[0]), signal.SIGKILL)
        elif not owner.exists() and time.time() - folder.stat().st_mtime < 5:
            continue  # another airtoll is just starting it
        shutil.rmtree(folder, ignore_errors=True)
        ended.append(folder.name)
    _leave(running)
    return ended


def start_script(
    console: str, variables: Mapping[str, str] | None = None, *, modules: Path | None = None
) -> str:
    """The script of a guest's first shell: it starts the agent, with errors to a console.

    ``console``: a device of the guest. ``variables``: of the agent's environment; without one it
    serves the virtio-serial port of its name. ``modules``: a folder of the host with modules
    besides airtoll's.
    """
    roots = [Path(airtoll.__file__).resolve().parent.parent, *([modules] if modules else [])]
    agent_file = Path(agent.__file__).resolve()
    exports = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "PYTHONPATH": os.pathsep.join(map(str, roots)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AIRTOLL_GUEST": "1",
        **(variables or {}),
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in exports.items()]
    # -P: the agent's own folder must not come before the standard library.
    command = f"exec {shlex.quote(sys.executable)} -P {shlex.quote(str(agent_file))}"
    tty = f"exec </dev/null >{console} 2>&1"
    return "\n".join([*lines, "ip link set lo up", tty, command, ""])


def boot_id() -> str:
    """Identifier of this boot of the host: a probed answer holds until the next boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _running_folder() -> Path:
    """The folder of this user's guests.

    Raises ``EnvironmentProblem`` for one that another user made or can write: every user may
    make names in the system's temporary directory, and a guest of root would run their files.
    """
    base = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    folder = base / f"airtoll-{os.getuid()}"
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700, parents=True)
        found = folder.lstat()
    except OSError as error:
        raise EnvironmentProblem(
            f"guest: {folder}: {error.strerror}; set XDG_RUNTIME_DIR to a folder of your own"
        ) from error
    problem = None
    if not stat.S_ISDIR(found.st_mode):
        problem = "is no folder"
    elif found.st_uid != os.getuid():
        problem = f"belongs to user {found.st_uid}, not to you"
    elif found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        problem = "can be written by others"
    if problem is not None:
        raise EnvironmentProblem(
            f"guest: {folder} {problem}: remove it, or set XDG_RUNTIME_DIR to a folder of your own"
        )
    return folder


def _fresh_folder() -> Path:
    while True:
        # The last guest of another airtoll may remove the folder that is empty as yet.
        with contextlib.suppress(FileNotFoundError):
            return Path(tempfile.mkdtemp(prefix="guest-", dir=_running_folder()))


def _leave(running: Path) -> None:
    """Remove the folder of running guests, unless one is left in it."""
    with contextlib.suppress(OSError):
        running.rmdir()


def identity(pid: int) -> str:
    """A process, told apart from later ones with its number.

    Raises ``OSError`` if there is none.
    """
    return f"{pid} {boot_id()} {_fields(pid)[_START]}"


def alive(process_of: str) -> bool:
    """Whether this process is running: its pid alone may belong to another process by now."""
    try:
        pid = int(process_of.split()[0])
        return identity(pid) == process_of and _fields(pid)[_STATE] not in _ENDED
    except (OSError, IndexError, ValueError):
        return False


#: Places in /proc/PID/stat behind the name (proc(5)): state, and start in clock ticks since boot.
_STATE, _START = 0, 19
#: Zombie, dead.
_ENDED = ("Z", "X", "x")


def _fields(pid: int) -> list[str]:
    """The fields of a process behind its name, which may hold spaces and brackets."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
