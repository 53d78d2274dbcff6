"""The guest driver: its archive format always, the machine itself where qemu is there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from airtoll.errors import EnvironmentProblem
from airtoll.testbeds.guest import initramfs, kernel, qemu

needs_guest = pytest.mark.skipif(
    shutil.which("qemu-system-x86_64") is None or kernel.find() is None,
    reason="needs qemu-system-x86 and `airtoll guest build`",
)


def test_archive_is_read_back_by_busybox(tmp_path: Path) -> None:
    packed = initramfs.archive(
        [("etc", 0o040755, b""), ("etc/name", 0o100644, b"airtoll"), ("run", 0o100755, b"abc")]
    )
    busybox = shutil.which("busybox") or pytest.skip("needs busybox")
    done = subprocess.run(
        [busybox, "cpio", "-idm"], input=packed, cwd=tmp_path, capture_output=True, check=True
    )
    assert b"error" not in done.stderr
    assert (tmp_path / "etc" / "name").read_bytes() == b"airtoll"
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o755


def test_newest_kernel_is_the_highest_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRTOLL_CACHE", str(tmp_path))
    assert kernel.find() is None
    for release in ("6.1.0-9-amd64", "6.1.0-56-amd64", "6.1.0-50-amd64"):
        folder = tmp_path / "kernel" / release
        folder.mkdir(parents=True)
        (folder / ".complete").touch()
    (tmp_path / "kernel" / "6.12.0-1-amd64").mkdir()  # an unpacking that was broken off
    found = kernel.find()
    assert found is not None
    assert found.release == "6.1.0-56-amd64"


def test_package_without_virtual_radios_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("dpkg-deb") is None or shutil.which("depmod") is None:
        pytest.skip("needs dpkg-deb and depmod")
    monkeypatch.setenv("AIRTOLL_CACHE", str(tmp_path / "cache"))
    tree = tmp_path / "tree"
    (tree / "boot").mkdir(parents=True)
    (tree / "boot" / "vmlinuz-6.1.0-1-cloud-amd64").write_bytes(b"")
    (tree / "lib/modules/6.1.0-1-cloud-amd64").mkdir(parents=True)
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN" / "control").write_text(
        "Package: linux-image-none\nVersion: 1\nArchitecture: amd64\n"
        "Maintainer: nobody <n@example.org>\nDescription: none\n"
    )
    deb = tmp_path / "kernel.deb"
    subprocess.run(["dpkg-deb", "--build", str(tree), str(deb)], check=True, capture_output=True)
    with pytest.raises(EnvironmentProblem, match="mac80211_hwsim"):
        kernel.build(deb)
    assert kernel.find() is None


def test_no_kernel_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRTOLL_CACHE", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="airtoll guest build"):
        qemu.Guest(tmp_path)


@pytest.mark.guest
@needs_guest
def test_guest_runs_calls_reports_and_leaves_nothing(tmp_path: Path) -> None:
    with qemu.Guest(tmp_path) as guest:
        pid = guest.pid
        done = guest.run(["sh", "-c", "cat; echo no >&2; exit 3"], stdin=b"hello")
        assert (done.status, done.stdout, done.stderr) == (3, b"hello", b"no\n")
        assert guest.run(["uname", "-r"]).stdout.decode().strip() == guest.kernel_release
        # The host's files are there, and cannot be changed from inside.
        victim = Path(__file__)
        before = victim.read_bytes()
        guest.run(["sh", "-c", f"echo changed > {victim}"])
        assert victim.read_bytes() == before
        guest.run(["sh", "-c", "echo kept > /run/airtoll-share/note"])
        assert guest.call("math:sqrt", 9) == 3.0
        with pytest.raises(qemu.GuestError, match="No such file"):
            guest.run(["/no/such/program"])
        with pytest.raises(qemu.GuestError, match="took too long"):
            guest.run(["sleep", "60"], timeout_s=0.5)
        with pytest.raises(qemu.GuestError, match="math domain"):
            guest.call("math:sqrt", -1)
        psutil.Process(pid).kill()
        with pytest.raises(qemu.GuestError, match="guest died"):
            guest.run(["true"])
    assert not psutil.pid_exists(pid)
    assert (tmp_path / "note").read_text() == "kept\n"


@pytest.mark.guest
@pytest.mark.slow
@needs_guest
def test_guest_of_a_killed_owner_is_ended(tmp_path: Path) -> None:
    program = """
        import sys, time
        from pathlib import Path
        from airtoll.testbeds.guest import qemu
        with qemu.Guest(Path(sys.argv[1])) as guest:
            print(guest.pid, flush=True)
            time.sleep(600)
    """
    owner = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    # Either the agent saw its host leave and powered off, or the next start ends it.
    qemu.clean()
    psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], timeout=10)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie"
