"""Hosts: run commands, move files, keep background processes; here, in a namespace, or over SSH.

Takes argument vectors and octets; gives :class:`Completed` commands and :class:`Process` handles
with a pid. Never goes through a shell of its own on local hosts, never loses a process it
started: :meth:`Host.close` ends them in reverse order.
"""

from __future__ import annotations

import abc
import asyncio
import contextlib
import errno
import os
import shlex
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, Self

from attrs import frozen

from airtoll.errors import EnvironmentProblem, TestbedError

#: Every process carries it, so that what a killed airtoll left can be found (see ``cleanup``).
RUN_VARIABLE: Final = "AIRTOLL_RUN"
#: Options of asyncssh's connection, by name.
SshOptions = Mapping[str, Any]
#: How long a daemon may take to end. An emulated CPU that is shared takes its time: SAE alone is
#: seconds of elliptic curves, during which no signal is looked at.
GRACE_S: Final = 30.0


#: A host that is connected answers within this time, s.
_ANSWER_S: Final = 20.0
_FULL: Final = os.strerror(errno.ENOSPC)
#: A host that is silent for a minute is lost: a cut network ends no connection by itself.
_PATIENCE: Final[SshOptions] = {
    "connect_timeout": 60,
    "keepalive_interval": 15,
    "keepalive_count_max": 4,
}


class HostError(TestbedError):
    """A command that failed, took too long, or a host that cannot be reached; names the host."""


class HostUnusableError(HostError):
    """A host that takes no part for now: its connection broke, or its disk is full.

    It says nothing about the policy under test, so that a trial with it is carried out again.
    """


@frozen
class Completed:
    """A command that ended."""

    argv: tuple[str, ...]
    status: int
    stdout: str
    stderr: str


class Process(abc.ABC):
    """A background process with a known pid on its host."""

    name: str
    pid: int
    #: Where its output goes, and on which host; set by :meth:`Host.start`.
    log: str = ""
    host: Host

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.status is None

    @property
    @abc.abstractmethod
    def status(self) -> int | None:
        """Its exit status, minus the number of the signal that ended it, or None."""

    @abc.abstractmethod
    async def wait(self, limit_s: float) -> int:
        """Its exit status; raises ``TimeoutError`` after ``limit_s`` seconds."""

    @abc.abstractmethod
    async def signal(self, number: signal.Signals) -> None:
        """Send a signal; nothing happens when it has ended already."""

    async def last_words(self) -> str:
        """How it ended, and the last lines of its log: for messages."""
        said = "still runs"
        if self.status is not None:
            said = f"exit status {self.status}"
            if self.status < 0:
                with contextlib.suppress(ValueError):
                    said = f"ended by {signal.Signals(-self.status).name}"
        with contextlib.suppress(HostError):
            text = (await self.host.get(self.log)).decode(errors="replace")
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            if lines:
                said += "; its log ends: " + " | ".join(lines[-2:])
        return said

    async def stop(self) -> None:
        """SIGTERM, and SIGKILL when it has not gone after half a minute."""
        if not self.running:
            return
        await self.signal(signal.SIGTERM)
        try:
            await self.wait(GRACE_S)
        except TimeoutError:
            await self.signal(signal.SIGKILL)
            await self.wait(GRACE_S)


class Host(abc.ABC):
    """One machine or namespace. Use as an async context manager.

    ``has_our_files``: whether it sees this machine's files.
    """

    has_our_files = True

    def __init__(self, name: str, run_id: str) -> None:
        self.name = name
        self.run_id = run_id
        self._started: list[Process] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str | None = None,
        limit_s: float = 90.0,
        check: bool = True,
    ) -> Completed:
        """Run a command to its end.

        Raises :class:`HostError` when it exits other than 0 (unless ``check`` is false), cannot
        be started or takes longer than ``limit_s`` seconds.
        """
        try:
            done = await asyncio.wait_for(self._run(tuple(argv), stdin), limit_s)
        except TimeoutError:
            raise HostError(
                f"{self.name}: `{_short(argv)}` took longer than {limit_s:g} s"
            ) from None
        except FileNotFoundError:
            raise EnvironmentProblem(f"{self.name}: {argv[0]} is not installed") from None
        if check and done.status != 0:
            words = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
            raise HostError(
                f"{self.name}: `{_short(argv)}` failed with status {done.status}: {words[-1]}"
            )
        return done

    async def start(
        self, argv: Sequence[str], *, log: str, env: Mapping[str, str] | None = None
    ) -> Process:
        """Start a background process whose output goes to the file ``log`` on this host."""
        process = await self._start(tuple(argv), log, {**(env or {}), RUN_VARIABLE: self.run_id})
        process.name = Path(argv[0]).name
        process.log = log
        process.host = self
        self._started.append(process)
        return process

    @contextlib.asynccontextmanager
    async def starting(
        self, argv: Sequence[str], *, log: str, env: Mapping[str, str] | None = None
    ) -> AsyncIterator[Process]:
        """Start a background process that the block waits for; a block that fails ends it.

        Left alone it would keep its port, its socket or its radio from the trials that follow.
        """
        process = await self.start(argv, log=log, env=env)
        try:
            yield process
        except BaseException:
            await process.stop()
            raise

    def running(self, program: str) -> list[Process]:
        """The background processes of a program that were started here and still run."""
        return [one for one in self._started if one.name == program and one.running]

    async def answers(self) -> bool:
        """Whether it answers within seconds."""
        return True

    async def close(self) -> None:
        """Stop every process that is still running, the latest first."""
        while self._started:
            with contextlib.suppress(TimeoutError, HostError):
                await self._started.pop().stop()

    @abc.abstractmethod
    async def hold(
        self, argv: Sequence[str], limit_s: float = 30.0
    ) -> Callable[[], Awaitable[None]]:
        """Start a program that works until its standard input ends; gives what ends it.

        It has said "ready" when this returns. Its input ends with this process, too, however that
        ends, and it has no mark by which ``cleanup`` would end it. Raises :class:`HostError` when
        it does not get ready.
        """

    @abc.abstractmethod
    async def put(self, path: str, data: bytes | str, mode: int = 0o600) -> None:
        """Write a file, and its folder where that is missing."""

    @abc.abstractmethod
    async def get(self, path: str) -> bytes:
        """Read a file; raises :class:`HostError` when it is not there."""

    @abc.abstractmethod
    async def exists(self, path: str) -> bool:
        """Whether a file, socket or folder is there."""

    @abc.abstractmethod
    async def _run(self, argv: tuple[str, ...], stdin: str | None) -> Completed: ...

    @abc.abstractmethod
    async def _start(self, argv: tuple[str, ...], log: str, env: Mapping[str, str]) -> Process: ...

    async def wait_for(self, path: str, limit_s: float, process: Process | None = None) -> None:
        """Wait until a file or socket is there.

        Raises :class:`HostError` after ``limit_s`` seconds, or at once when ``process``, which
        should have made it, has ended.
        """
        loop = asyncio.get_running_loop()
        give_up = loop.time() + limit_s
        while not await self.exists(path):
            if process is not None and not process.running:
                raise HostError(
                    f"{self.name}: {process.name} ended before it made {path}: "
                    f"{await process.last_words()}"
                )
            if loop.time() > give_up:
                raise HostError(f"{self.name}: no {path} within {limit_s:g} s")
            # No inotify over SSH: looking often is the one way that works on every host.
            await asyncio.sleep(0.02)

    async def wait_for_socket(
        self, transport: Literal["tcp", "udp"], port: int, process: Process, limit_s: float
    ) -> None:
        """Wait until the kernel lists a process's own waiting socket on a port.

        Raises :class:`HostError` after ``limit_s`` seconds.
        """
        # `ss` waits for nothing. Another process may hold the port: the pid tells them apart.
        script = (
            f"i=0; while [ $i -lt {round(limit_s * 10)} ]; do "
            f"ss -Hlnp{transport[0]} 'sport = :{port}' | grep -q 'pid={process.pid},' && exit 0; "
            f"kill -0 {process.pid} 2>/dev/null || exit 1; "
            "i=$((i+1)); sleep 0.1; done; exit 1"
        )
        done = await self.run(["sh", "-c", script], limit_s=limit_s + 10, check=False)
        if done.status != 0:
            raise HostError(
                f"{self.name}: {process.name} does not listen on port {port}: "
                f"{await process.last_words()}"
            )


class LocalHost(Host):
    """This machine; with ``namespace``, a network namespace of it."""

    def __init__(self, name: str, run_id: str, namespace: str | None = None) -> None:
        super().__init__(name, run_id)
        self.namespace = namespace

    def _prefixed(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        if self.namespace is None:
            return argv
        return ("ip", "netns", "exec", self.namespace, *argv)

    async def _run(self, argv: tuple[str, ...], stdin: str | None) -> Completed:
        process = await asyncio.create_subprocess_exec(
            *self._prefixed(argv),
            stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, RUN_VARIABLE: self.run_id},
            start_new_session=True,
        )
        try:
            out, err = await process.communicate(None if stdin is None else stdin.encode())
        except BaseException:
            # The whole session: a child that keeps the pipes open would outlive its shell.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise
        status = process.returncode if process.returncode is not None else -1
        return Completed(argv, status, out.decode(errors="replace"), err.decode(errors="replace"))

    async def _start(self, argv: tuple[str, ...], log: str, env: Mapping[str, str]) -> Process:
        Path(log).parent.mkdir(parents=True, exist_ok=True)
        with Path(log).open("ab") as output:
            try:
                process = await asyncio.create_subprocess_exec(
                    *self._prefixed(argv),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env={**os.environ, **env},
                    start_new_session=True,
                )
            except FileNotFoundError:
                raise EnvironmentProblem(f"{self.name}: {argv[0]} is not installed") from None
        return _LocalProcess(process)

    async def hold(
        self, argv: Sequence[str], limit_s: float = 30.0
    ) -> Callable[[], Awaitable[None]]:
        """Start a program that works until its standard input ends; gives what ends it."""
        process = await asyncio.create_subprocess_exec(
            *self._prefixed(tuple(argv)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        given, said = process.stdin, process.stdout

        async def ended() -> None:
            # To the end of its output: pipes that are open outlive the loop, which then complains.
            given.close()
            await said.read()
            await process.wait()

        try:
            await _ready(self.name, argv, said.readline(), limit_s)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await ended()
            raise

        async def release() -> None:
            await asyncio.wait_for(ended(), limit_s)

        return release

    async def put(self, path: str, data: bytes | str, mode: int = 0o600) -> None:
        """Write a file, and its folder where that is missing."""
        target = Path(path)
        octets = data.encode() if isinstance(data, str) else data
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
            with os.fdopen(descriptor, "wb") as file:
                file.write(octets)
        except OSError as error:
            kind = HostUnusableError if error.errno == errno.ENOSPC else HostError
            raise kind(f"{self.name}: cannot write {path}: {error.strerror}") from error

    async def get(self, path: str) -> bytes:
        """Read a file."""
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise HostError(f"{self.name}: {path}: {error.strerror}") from error

    async def exists(self, path: str) -> bool:
        """Whether a path is there."""
        return Path(path).exists()


class _LocalProcess(Process):
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid
        self.name = "process"

    @property
    def status(self) -> int | None:
        return self._process.returncode

    async def wait(self, limit_s: float) -> int:
        return await asyncio.wait_for(self._process.wait(), limit_s)

    async def signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)


class SshHost(Host):
    """A machine reached over SSH.

    ``address``: user@host, host, or host with a port in ``options``. Host keys must be known:
    an unknown one is refused, by name, unless ``options`` says otherwise.
    """

    has_our_files = False

    def __init__(
        self, name: str, run_id: str, address: str, options: SshOptions | None = None
    ) -> None:
        super().__init__(name, run_id)
        user, _, host = address.rpartition("@")
        self._address = host
        self._options = {**_PATIENCE, **({"username": user} if user else {}), **(options or {})}
        self._connection: Any = None

    async def __aenter__(self) -> Self:
        try:
            import asyncssh
        except ImportError:
            raise EnvironmentProblem(
                "hosts over SSH need asyncssh: pip install 'airtoll[linux]'"
            ) from None
        try:
            self._connection = await asyncssh.connect(self._address, **self._options)
        except (OSError, asyncssh.Error) as error:
            raise HostUnusableError(
                f"{self.name}: cannot reach {self._address} by SSH: {error}"
            ) from error
        return self

    async def close(self) -> None:
        """Stop what runs there, then leave; a host that does not answer is left at once."""
        if await self.answers():
            await super().close()
        self._started.clear()
        if self._connection is not None:
            self._connection.abort()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._connection.wait_closed(), _ANSWER_S)
            self._connection = None

    async def answers(self) -> bool:
        """Whether it answers within seconds."""
        try:
            await asyncio.wait_for(self._execute("true", None), _ANSWER_S)
        except (HostError, TimeoutError):
            return False
        return True

    async def stream(self, argv: Sequence[str]) -> Any:
        """An asyncssh process with open pipes, for a client that reports events."""
        if self._connection is None:
            raise HostError(f"{self.name}: not connected")
        return await self._connection.create_process(self._line(argv, {RUN_VARIABLE: self.run_id}))

    def _line(self, argv: Sequence[str], env: Mapping[str, str]) -> str:
        # sshd drops variables that its configuration does not accept; `env` does not.
        return shlex.join(["env", *(f"{k}={v}" for k, v in env.items()), *argv])

    async def _execute(self, command: str, stdin: bytes | None) -> tuple[int, bytes, bytes]:
        if self._connection is None:
            raise HostError(f"{self.name}: not connected")
        import asyncssh

        try:
            process = await self._connection.create_process(command, encoding=None)
            if stdin:
                # A command may end before it reads: its status says why, the connection holds.
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(stdin)
                    process.stdin.write_eof()
            done = await process.wait()
        except (OSError, asyncssh.Error) as error:
            raise HostUnusableError(f"{self.name}: the SSH connection broke: {error}") from error
        if done.exit_status is None and done.exit_signal is None:
            # asyncssh raises nothing where the connection ends under a command.
            raise HostUnusableError(f"{self.name}: the SSH connection broke under a command")
        status = done.exit_status if done.exit_status is not None else -1
        return status, done.stdout, done.stderr

    async def _run(self, argv: tuple[str, ...], stdin: str | None) -> Completed:
        octets = None if stdin is None else stdin.encode()
        line = self._line(argv, {RUN_VARIABLE: self.run_id})
        status, out, err = await self._execute(line, octets)
        if status == 127:  # the shell's answer to a command it cannot find
            raise FileNotFoundError(argv[0])
        return Completed(argv, status, out.decode(errors="replace"), err.decode(errors="replace"))

    async def _start(self, argv: tuple[str, ...], log: str, env: Mapping[str, str]) -> Process:
        folder = shlex.quote(str(Path(log).parent))
        # exec keeps the pid that was printed; the shell behind it only waits for the status. The
        # mark is in the environment before the pid is told, so no cleaner can come too early.
        announce = ("sh", "-c", 'echo $$ >&3; exec 3>&-; exec "$@"', "sh")
        command = (
            f"mkdir -p {folder}; exec 3>&1; {self._line((*announce, *argv), env)} "
            f"</dev/null >>{shlex.quote(log)} 2>&1"
        )
        if self._connection is None:
            raise HostError(f"{self.name}: not connected")
        channel = await self._connection.create_process(command)
        pid = (await asyncio.wait_for(channel.stdout.readline(), GRACE_S)).strip()
        if not pid.isdigit():
            raise HostError(f"{self.name}: {argv[0]} did not start")
        return _SshProcess(self, channel, int(pid))

    async def hold(
        self, argv: Sequence[str], limit_s: float = 30.0
    ) -> Callable[[], Awaitable[None]]:
        """Start a program that works until its standard input ends; gives what ends it."""
        if self._connection is None:
            raise HostError(f"{self.name}: not connected")
        channel = await self._connection.create_process(shlex.join(argv))
        await _ready(self.name, argv, channel.stdout.readline(), limit_s)

        async def release() -> None:
            channel.stdin.write_eof()
            await asyncio.wait_for(channel.wait(), limit_s)

        return release

    async def put(self, path: str, data: bytes | str, mode: int = 0o600) -> None:
        """Write a file, and its folder where that is missing."""
        octets = data.encode() if isinstance(data, str) else data
        folder, file = shlex.quote(str(Path(path).parent)), shlex.quote(path)
        # Neither SFTP nor scp is on every OpenWrt; cat is.
        command = f"mkdir -p {folder} && umask 077 && cat > {file} && chmod {mode:o} {file}"
        status, _, err = await self._execute(command, octets)
        if status != 0:
            said = err.decode(errors="replace").strip()
            kind = HostUnusableError if _FULL in said else HostError
            raise kind(f"{self.name}: cannot write {path}: {said}")

    async def get(self, path: str) -> bytes:
        """Read a file."""
        status, out, err = await self._execute(f"cat {shlex.quote(path)}", None)
        if status != 0:
            raise HostError(f"{self.name}: cannot read {path}: {err.decode().strip()}")
        return out

    async def exists(self, path: str) -> bool:
        """Whether a path is there."""
        return (await self._execute(f"test -e {shlex.quote(path)}", None))[0] == 0


class _SshProcess(Process):
    def __init__(self, host: SshHost, channel: Any, pid: int) -> None:
        self._host = host
        self._channel = channel
        self.pid = pid
        self.name = "process"

    @property
    def status(self) -> int | None:
        if self._channel.exit_signal is not None:
            name = f"SIG{self._channel.exit_signal[0]}"
            return -int(signal.Signals.__members__.get(name, signal.SIGKILL))
        status = self._channel.exit_status
        return None if status is None else int(status)

    async def wait(self, limit_s: float) -> int:
        done = await asyncio.wait_for(self._channel.wait(), limit_s)
        return int(done.exit_status) if done.exit_status is not None else -1

    async def signal(self, number: signal.Signals) -> None:
        await self._host.run(["kill", f"-{int(number)}", str(self.pid)], check=False)


def _short(argv: Sequence[str]) -> str:
    line = shlex.join(argv)
    return line if len(line) <= 120 else line[:117] + "..."


async def _ready(
    who: str, argv: Sequence[str], line: Awaitable[bytes | str], limit_s: float
) -> None:
    try:
        said = await asyncio.wait_for(line, limit_s)
    except TimeoutError:
        said = "nothing"
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    if text.strip() != "ready":
        raise HostError(f"{who}: `{_short(argv)}` said {text.strip() or 'nothing'}, not ready")
