"""Programs for hosts that do not have this package: what is sent, and that it runs there."""

from __future__ import annotations

import asyncio
import io
import shutil
import socket
import zipfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from airtoll.errors import EnvironmentProblem, TestbedError
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.hosts import programs, shipping
from airtoll.testbeds.linux.hosts.host import Host, LocalHost
from airtoll.testbeds.linux.hosts.plain import read
from airtoll.testbeds.linux.laboratory import beforehand
from airtoll.testbeds.linux.on_hosts import dns, exchanges, ftp

Opened = Callable[[], AbstractAsyncContextManager[Host]]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("module", [dns, exchanges, ftp])
def test_a_program_goes_with_all_that_it_imports_and_nothing_heavy(module: object) -> None:
    name = str(module.__name__)  # type: ignore[attr-defined]
    octets = shipping.archive(name)
    with zipfile.ZipFile(io.BytesIO(octets)) as file:
        names = set(file.namelist())
    assert {f"{name.replace('.', '/')}.py", "airtoll/errors.py", "attr/__init__.py"} <= names
    assert not [one for one in names if "policies" in one or "border" in one or "plan" in one]
    assert len(octets) < 100_000
    shipping.archive.cache_clear()
    assert shipping.archive(name) == octets


def test_a_program_that_needs_the_native_module_is_refused() -> None:
    with pytest.raises(TestbedError, match=r"mobile_ip cannot be sent .* airtoll\._native"):
        shipping.closure("airtoll.testbeds.linux.daemons.mobile_ip")


def test_requests_over_hosts_of_both_kinds(opened: Opened, tmp_path: Path) -> None:
    async def steps() -> None:
        folder = tmp_path / "run"
        async with opened() as host:
            if not host.has_our_files and (why := await shipping.without_python(host)):
                pytest.skip(f"this machine's sshd finds {why}")
            port = free_port()
            service = exchanges.Service((0, port), str(folder / "ready"))
            name = exchanges.__name__
            await programs.serve(host, str(folder / "server"), name, service)
            client = exchanges.Client("127.0.0.1", port, None, "plain", 100, 1000, 0.3)
            told = await programs.run(host, str(folder / "client"), name, client, 0.3)
            found = read(exchanges.Exchanges, told)
            assert len(found.response_s) > 10
            sent = list(folder.glob("*.pyz"))
            assert len(sent) == (0 if host.has_our_files else 1)
            for path in sent:  # as after a reboot, which empties /run
                path.unlink()
            assert read(
                exchanges.Exchanges,
                await programs.run(host, str(folder / "again"), name, client, 0.3),
            ).response_s

    asyncio.run(steps())


def test_lookups_over_tls_and_files_over_hosts_of_both_kinds(
    opened: Opened, new_credentials: Credentials, tmp_path: Path
) -> None:
    async def steps() -> None:
        base = str(tmp_path / "base")
        chain = new_credentials.dns
        async with opened() as host:
            if not host.has_our_files and (why := await shipping.without_python(host)):
                pytest.skip(f"this machine's sshd finds {why}")
            await host.put(f"{base}.pem", chain.server + chain.server_key)
            await host.put(f"{base}-authority.pem", chain.authority)
            port = free_port()
            service = dns.Service(f"{base}.pem", (0, port), f"{base}.ready")
            await programs.serve(host, f"{base}-dns", dns.__name__, service)
            client = dns.Client("127.0.0.1", port, f"{base}-authority.pem", 0.3)
            told = await programs.run(host, f"{base}-look", dns.__name__, client, 0.3)
            assert read(dns.Lookups, told).response_s
            port = free_port()
            served = ftp.Service(port, f"{base}.ftp-ready")
            await programs.serve(host, f"{base}-ftp", ftp.__name__, served)
            upload = ftp.Client("127.0.0.1", port, None, True, 1_000_000, 10.0)
            told = await programs.run(host, f"{base}-file", ftp.__name__, upload, 10.0)
            found = read(ftp.Transfer, told)
            assert found.whole
            assert 0 < found.own_s < 10

    asyncio.run(steps())


class Far(LocalHost):
    """This machine, as a host without its files."""

    has_our_files = False


@pytest.mark.parametrize(
    ("python", "message"),
    [
        (None, r"attic: no python3; on attic: apt-get install .*python3"),
        ("echo '3.9.2 (default, Feb 28 2021)'", r"attic: python3 is 3\.9\.2; 3\.11 or later"),
    ],
)
def test_a_host_without_a_fitting_python_is_named_with_the_cure(
    python: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = shutil.which("sh")
    assert shell is not None
    (tmp_path / "sh").symlink_to(shell)
    if python is not None:
        (tmp_path / "python3").write_text(f"#!/bin/sh\n{python}\n")
        (tmp_path / "python3").chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))

    async def steps() -> beforehand.Answers:
        async with Far("attic", "0123abcd") as host:
            with pytest.raises(EnvironmentProblem, match=message):
                await shipping.ship(host, str(tmp_path / "run"), exchanges.__name__)
            return await beforehand.look(host, "server")

    assert asyncio.run(steps()).python is not None
    assert not (tmp_path / "run").exists()
