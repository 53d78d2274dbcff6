"""One contract for every kind of host: local, and over a real sshd on the loopback."""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from airtoll.errors import EnvironmentProblem
from airtoll.testbeds.linux.hosts import cleanup
from airtoll.testbeds.linux.hosts import host as hosts
from airtoll.testbeds.linux.hosts.host import (
    Host,
    HostError,
    HostUnusableError,
    LocalHost,
    SshHost,
)
from airtoll.testbeds.linux.traffic import iperf3

RUN_ID = "0123abcd"

Opened = Callable[[], AbstractAsyncContextManager[Host]]


def test_commands_give_status_and_output(opened: Opened) -> None:
    async def steps() -> None:
        async with opened() as host:
            done = await host.run(
                ["sh", "-c", "cat; echo no >&2; exit 3"], stdin="a b", check=False
            )
            assert (done.status, done.stdout, done.stderr) == (3, "a b", "no\n")
            # Arguments reach the program as they are, whatever shell lies between.
            odd = await host.run(["printf", "%s|", "a b", "$HOME", "'", '"', "*"])
            assert odd.stdout == "a b|$HOME|'|\"|*|"
            assert (await host.run(["sh", "-c", "echo $AIRTOLL_RUN"])).stdout.strip() == RUN_ID
            with pytest.raises(HostError, match=f"{host.name}: `sh -c .*status 4: broken"):
                await host.run(["sh", "-c", "echo broken >&2; exit 4"])
            with pytest.raises(HostError, match=r"longer than 0.2 s"):
                await host.run(["sleep", "30"], limit_s=0.2)
            with pytest.raises(EnvironmentProblem, match="no-such-program is not installed"):
                await host.run(["no-such-program"])

    asyncio.run(steps())


def test_files_move_as_they_are(opened: Opened, tmp_path: Path) -> None:
    async def steps() -> None:
        octets = bytes(range(256)) * 300
        path = tmp_path / "new folder" / "secret"
        async with opened() as host:
            assert not await host.exists(str(path))
            await host.put(str(path), octets)
            assert await host.exists(str(path))
            assert await host.get(str(path)) == octets
            assert path.stat().st_mode & 0o777 == 0o600
            with pytest.raises(HostError, match="missing"):
                await host.get(str(tmp_path / "missing"))
            with pytest.raises(HostError, match=r"no .*never within 0.1 s"):
                await host.wait_for(str(tmp_path / "never"), 0.1)

    asyncio.run(steps())


def test_a_full_disk_and_a_lost_connection_are_the_hosts_own(
    opened: Opened, tmp_path: Path
) -> None:
    async def steps() -> None:
        async with opened() as host:
            assert await host.answers()
            with pytest.raises(HostUnusableError, match=r"/dev/full: .*No space left on device"):
                await host.put("/dev/full", "x" * 100_000)
            with pytest.raises(HostError, match="cannot write") as caught:
                await host.put("/proc/airtoll/file", "x")
            assert not isinstance(caught.value, HostUnusableError)
            if isinstance(host, SshHost):
                # The parent of the shell is the sshd of this connection.
                with pytest.raises(HostUnusableError, match="the SSH connection broke"):
                    await host.run(["sh", "-c", "kill -9 $PPID; sleep 30"])
                assert not await host.answers()

    asyncio.run(steps())


def test_a_command_that_does_not_read_keeps_its_status(opened: Opened) -> None:
    async def steps() -> None:
        async with opened() as host:
            for _ in range(10):
                done = await host.run(["sh", "-c", "exit 3"], stdin="x" * 100, check=False)
                assert done.status == 3

    asyncio.run(steps())


@pytest.fixture(autouse=True)
def little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ignores SIGTERM is waited for; here not for half a minute."""
    monkeypatch.setattr(hosts, "GRACE_S", 3.0)


def test_processes_have_pids_and_end_with_the_host(opened: Opened, tmp_path: Path) -> None:
    async def steps() -> tuple[int, int]:
        log = str(tmp_path / "log")
        async with opened() as host:
            plain = await host.start(["sleep", "300"], log=log)
            assert plain.running
            await _becomes(plain.pid, b"sleep\x00300\x00")
            await plain.signal(signal.SIGTERM)
            await plain.wait(30.0)
            assert not plain.running
            stubborn = await host.start(
                ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"], log=log
            )
            while b"ready" not in await host.get(log):
                await asyncio.sleep(0.01)
            gone = await host.start(["true"], log=log)
            await gone.wait(30.0)
            with pytest.raises(HostError, match="true ended before it made"):
                await host.wait_for(str(tmp_path / "socket"), 30.0, gone)
            return plain.pid, stubborn.pid

    for pid in asyncio.run(steps()):
        assert not Path(f"/proc/{pid}/cwd").exists()


def test_a_process_ends_when_what_waits_for_it_fails_or_is_cancelled(
    opened: Opened, tmp_path: Path
) -> None:
    async def steps() -> None:
        log = str(tmp_path / "log")
        async with opened() as host:
            with pytest.raises(HostError, match=r"within 0.1 s"):
                async with host.starting(["sleep", "300"], log=log) as failed:
                    await host.wait_for(str(tmp_path / "never"), 0.1, failed)
            assert not failed.running
            begun = asyncio.get_running_loop().create_future()

            async def waits() -> None:
                async with host.starting(["sleep", "300"], log=log) as process:
                    begun.set_result(process)
                    await asyncio.get_running_loop().create_future()

            task = asyncio.create_task(waits())
            process = await begun
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not process.running
            async with host.starting(["sleep", "300"], log=log) as ready:
                pass
            assert ready.running

    asyncio.run(steps())


@pytest.mark.skipif(shutil.which("iperf3") is None, reason="needs iperf3")
def test_a_port_that_another_process_holds_is_said(opened: Opened, tmp_path: Path) -> None:
    async def steps() -> None:
        async with opened() as host:
            with socket.socket() as holder:
                holder.bind(("", 0))
                holder.listen()
                port = holder.getsockname()[1]
                with pytest.raises(HostError, match=rf"iperf3 does not listen on port {port}: "):
                    await iperf3.serve(host, port, str(tmp_path), limit_s=20.0)

    asyncio.run(steps())


async def _becomes(pid: int, argv: bytes) -> None:
    # A host over SSH tells the pid first and replaces the shell by the program a moment later.
    async with asyncio.timeout(30.0):
        while Path(f"/proc/{pid}/cmdline").read_bytes() != argv:
            await asyncio.sleep(0.01)


def test_what_a_killed_run_left_is_found_by_its_mark(opened: Opened, tmp_path: Path) -> None:
    async def steps() -> None:
        async with opened() as host:
            marked = await host.start(["sleep", "300"], log=str(tmp_path / "log"))
            async with LocalHost("other", "feedbeef") as other:
                stranger = await other.start(["sleep", "300"], log=str(tmp_path / "log"))
                async with LocalHost("cleaner", "cafecafe") as cleaner:
                    await cleanup.clean(cleaner, RUN_ID)
                await marked.wait(30.0)
                assert stranger.running

    if shutil.which("ip") is None:
        pytest.skip("needs iproute2")
    asyncio.run(steps())


def test_only_runs_without_an_owner_are_abandoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleanup, "FOLDER", str(tmp_path))

    async def steps() -> None:
        async with LocalHost("here", RUN_ID) as host:
            await cleanup.claim(host, "aaaa1111")
            dead = await host.start(["true"], log=str(tmp_path / "log"))
            await dead.wait(30.0)
            await cleanup.claim(host, "bbbb2222", owner=dead.pid)
            (tmp_path / "not-a-run").mkdir()
            assert await cleanup.abandoned(host) == ["bbbb2222"]

    asyncio.run(steps())


def test_what_a_killed_runner_left_on_a_host_goes_with_its_next_run(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleanup, "FOLDER", str(tmp_path))

    async def steps() -> None:
        async with opened() as host:
            for run_id in (RUN_ID, "aaaa1111"):  # this process has dropped both
                await cleanup.claim_remote(host, run_id)
            left = await host.start(["sleep", "300"], log=str(tmp_path / "log"))
            other = tmp_path / "bbbb2222"
            other.mkdir()
            (other / "runner").write_text("another-machine 1 2 3\n")
            (tmp_path / "cccc3333").mkdir()  # a run of this machine's own namespaces
            assert await cleanup.clean_left(host, "aaaa1111") == [RUN_ID]
            await left.wait(30.0)
            assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == [
                "aaaa1111",
                "bbbb2222",
                "cccc3333",
            ]

    asyncio.run(steps())


def test_an_unreachable_host_is_named() -> None:
    async def steps() -> None:
        async with SshHost("attic", RUN_ID, "127.0.0.1", {"port": 1, "known_hosts": None}):
            pass

    pytest.importorskip("asyncssh")
    with pytest.raises(HostError, match=r"attic: cannot reach 127.0.0.1 by SSH"):
        asyncio.run(steps())
