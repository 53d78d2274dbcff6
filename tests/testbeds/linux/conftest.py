"""Hosts of every kind: local, and over a real sshd on the loopback."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from airtoll.testbeds.linux.hosts.host import Host, LocalHost, SshHost

RUN_ID = "0123abcd"


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    program = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None or shutil.which("ssh-keygen") is None:
        pytest.skip("needs openssh-server")
    folder = tmp_path_factory.mktemp("sshd")
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True
        )
    shutil.copy(folder / "user.pub", folder / "authorized")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nPermitRootLogin prohibit-password\n"
    )
    # A shell below another one reads no ~/.bashrc, in which pyenv and its like take half a second
    # of each command. Its `python3` is the interpreter of the tests and no script around it.
    path = os.pathsep.join([str(Path(sys.executable).resolve().parent), os.environ["PATH"]])
    with (folder / "config").open("a") as config:
        config.write(f'SetEnv SHLVL=1 "PATH={path}"\n')
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    daemon = subprocess.Popen(
        [program, "-D", "-e", "-f", str(folder / "config")], stderr=subprocess.DEVNULL
    )
    try:
        give_up = time.monotonic() + 30
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if daemon.poll() is not None or time.monotonic() > give_up:
                pytest.skip("sshd does not start here")
            time.sleep(0.05)
        yield port, folder
    finally:
        daemon.terminate()
        daemon.wait()


@pytest.fixture(params=["local", "ssh"])
def opened(request: pytest.FixtureRequest) -> Callable[[], AbstractAsyncContextManager[Host]]:
    """Opens a host of each kind in turn, for every test that takes it."""
    return lambda: _opened(str(request.param), request)


@asynccontextmanager
async def _opened(kind: str, request: pytest.FixtureRequest) -> AsyncIterator[Host]:
    if kind == "local":
        async with LocalHost("here", RUN_ID) as host:
            yield host
        return
    port, folder = request.getfixturevalue("sshd")
    options = {
        "port": port,
        "client_keys": [str(folder / "user")],
        "known_hosts": ([f"{folder}/host.pub"], [], []),
    }
    async with SshHost("far", RUN_ID, f"{getpass.getuser()}@127.0.0.1", options) as host:
        yield host
