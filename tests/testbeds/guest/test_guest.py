"""Guests: what needs no machine always; the contract over every driver whose parts are there."""

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

from airtoll.errors import EnvironmentProblem, UsageError
from airtoll.testbeds.guest import contract, drivers, initramfs, kernel, qemu, uml, uml_kernel

#: Driver -> mark of its tests. No test builds a kernel.
NEEDS = {
    "qemu": pytest.mark.skipif(
        shutil.which("qemu-system-x86_64") is None or kernel.find() is None,
        reason="needs qemu-system-x86 and `airtoll guest build`",
    ),
    "uml": pytest.mark.skipif(
        uml_kernel.find() is None, reason="needs `airtoll guest build --driver uml`"
    ),
}
every_driver = pytest.mark.parametrize(
    "driver", [pytest.param(name, marks=NEEDS[name]) for name in drivers.NAMES]
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


def test_a_process_is_told_apart_from_another_with_its_number() -> None:
    # The name holds a space and a bracket, which delimit the fields of /proc/PID/stat.
    named = (
        "import sys; open('/proc/self/comm', 'w').write('a) b'); "
        "print('up', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", named], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    one = contract.identity(process.pid)
    assert contract.alive(one)
    pid, boot, start = one.split()
    for other in (f"{pid} {boot} {int(start) + 1}", f"{pid} other-boot {start}", pid, "", "x y z"):
        assert not contract.alive(other)
    process.kill()
    # Without a wait the process is a zombie: it has the number, and runs no more.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert contract.identity(process.pid) == one
    assert not contract.alive(one)
    process.communicate()
    assert not contract.alive(one)
    with pytest.raises(OSError, match="No such"):
        contract.identity(process.pid)


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
        "Maintainer: none <n@example.org>\nDescription: none\n"
    )
    deb = tmp_path / "kernel.deb"
    subprocess.run(["dpkg-deb", "--build", str(tree), str(deb)], check=True, capture_output=True)
    with pytest.raises(EnvironmentProblem, match="mac80211_hwsim"):
        kernel.build(deb)
    assert kernel.find() is None


def test_a_kernel_of_an_earlier_version_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(drivers.VARIABLE, raising=False)
    monkeypatch.setenv("AIRTOLL_CACHE", str(tmp_path))
    monkeypatch.setattr(drivers, "_kvm_is_there", lambda: False)
    assert drivers.shortfall() == ""
    built = tmp_path / "uml" / "6.1.1-0123456789ab"
    built.mkdir(parents=True)
    (built / ".complete").write_text("6.1.1\n")
    state = drivers.states()[1]
    assert (state.driver, state.ready) == ("uml", False)
    assert state.found == "the kernel in the cache is that of an earlier version"
    assert drivers.shortfall().endswith(state.mend.removesuffix(" (minutes)"))
    monkeypatch.setenv(drivers.VARIABLE, "qemu")
    assert drivers.shortfall() == ""


def test_no_kernel_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRTOLL_CACHE", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="airtoll guest build"):
        qemu.Qemu(tmp_path)
    with pytest.raises(EnvironmentProblem, match="airtoll guest build --driver uml"):
        uml.Uml(tmp_path)
    assert [(state.driver, state.ready) for state in drivers.states()] == [
        ("qemu", False),
        ("uml", False),
    ]


def test_unknown_driver_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"--vm-driver xen.*qemu, uml"):
        drivers.make(tmp_path, "xen")
    monkeypatch.setenv(drivers.VARIABLE, "xen")
    with pytest.raises(UsageError, match="AIRTOLL_VM_DRIVER xen"):
        drivers.make(tmp_path)


@pytest.mark.parametrize(
    ("kvm", "built", "boots", "expected"),
    [
        (True, True, True, "kvm"),
        (False, True, True, "uml"),
        (False, True, False, "tcg-icount"),
        (False, False, True, "tcg-icount"),
    ],
)
def test_the_fastest_driver_that_works_is_taken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kvm: bool,
    built: bool,
    boots: bool,
    expected: str,
) -> None:
    stock = kernel.Kernel("6.1.0-1-amd64", tmp_path)
    own = uml_kernel.UmlKernel("6.1.1-airtoll-uml", tmp_path)
    monkeypatch.delenv(drivers.VARIABLE, raising=False)
    monkeypatch.setattr(kernel, "find", lambda: stock)
    monkeypatch.setattr(uml_kernel, "find", lambda: own if built else None)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(initramfs, "for_qemu", lambda found: tmp_path / "archive")
    monkeypatch.setattr(initramfs, "for_uml", lambda folder: tmp_path / "archive")
    for place in (qemu, drivers):
        monkeypatch.setattr(place, "kvm_works", lambda found, archive: kvm)
    monkeypatch.setattr(uml, "works", lambda found: boots)
    assert drivers.make(tmp_path, dilated=True).accelerator == expected
    assert drivers.make(tmp_path, "qemu").accelerator == ("kvm" if kvm else "tcg")


def test_a_kernel_of_another_configuration_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRTOLL_CACHE", str(tmp_path))
    ours = uml_kernel.digest()
    for name in (f"6.1.99-1-{ours}", f"6.1.192-2-{ours}", "6.12.1-1-0123456789ab"):
        folder = tmp_path / "uml" / name
        folder.mkdir(parents=True)
        (folder / ".complete").write_text(f"{name.split('-')[0]}-airtoll-uml\n")
    found = uml_kernel.find()
    assert found is not None
    assert found.release == "6.1.192-airtoll-uml"


def test_edits_must_fit_the_source_unless_it_needs_none(tmp_path: Path) -> None:
    size, end, *_ = uml_kernel.EDITS
    source = tmp_path / size.file
    source.parent.mkdir(parents=True)
    source.write_text("\tDEFINE_LONGS(HOST_FP_SIZE, 2696);\n")
    uml_kernel.apply(size, tmp_path)
    assert source.read_text() == "\tDEFINE_LONGS(HOST_FP_SIZE, 12288);\n"
    source.write_text("\tDEFINE_LONGS(HOST_FP_SIZE, 4096);\n")
    with pytest.raises(EnvironmentProblem, match=r"user-offsets\.c"):
        uml_kernel.apply(size, tmp_path)
    source.write_text("\tDEFINE_LONGS(HOST_BX, RBX);\n")  # sized at run time
    uml_kernel.apply(size, tmp_path)
    with pytest.raises(EnvironmentProblem, match=r"process\.c"):
        uml_kernel.apply(end, tmp_path)


def test_guests_at_a_time_have_different_cpus_of_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5})
    cpus = uml._Cpus()
    with cpus.one() as first:
        for _ in range(3):
            with cpus.one() as second:
                assert {first, second} == {3, 5}


def test_an_edit_for_some_kernels_leaves_the_others_alone(tmp_path: Path) -> None:
    edit = uml_kernel.Edit("one.c", "old", "new", only=("other.c", "sign"))
    (tmp_path / "one.c").write_text("old")
    (tmp_path / "other.c").write_text("nothing of it")
    uml_kernel.apply(edit, tmp_path)
    assert (tmp_path / "one.c").read_text() == "old"
    (tmp_path / "other.c").write_text("the sign")
    uml_kernel.apply(edit, tmp_path)
    assert (tmp_path / "one.c").read_text() == "new"


#: Sums by vector instructions in two threads, in a child of each of twenty forks and beside signals
#: whose handler sums, too. In another order of the same additions they would differ.
_SUMS = """
import os, signal, sys, threading
import numpy
values = numpy.linspace(0.1, 2.7, 20_000)
def total():
    return float(numpy.sqrt(values).sum() + numpy.dot(values, values))
expected = total()
wrong = []
def check():
    if total() != expected:
        wrong.append("sum")
def signalled(*_):
    check()
    signal.setitimer(signal.ITIMER_REAL, 0.001)
signal.signal(signal.SIGALRM, signalled)
signal.setitimer(signal.ITIMER_REAL, 0.001)
threads = [threading.Thread(target=lambda: [check() for _ in range(300)]) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        os._exit(any(total() != expected for _ in range(20)))
    check()
    if os.waitpid(child, 0)[1] != 0:
        wrong.append("child")
for thread in threads:
    thread.join()
signal.signal(signal.SIGALRM, signal.SIG_IGN)
sys.exit(f"{len(wrong)} wrong: {set(wrong)}" if wrong else 0)
"""


@pytest.mark.guest
@NEEDS["uml"]
def test_tasks_keep_their_floating_point_state(tmp_path: Path) -> None:
    with drivers.make(tmp_path, "uml") as guest:
        done = guest.run([sys.executable, "-c", _SUMS], timeout_s=120)
    assert done.status == 0, done.stderr.decode()


def test_a_setting_that_did_not_hold_is_named() -> None:
    wanted = "# radios\nCONFIG_MAC80211=m\nCONFIG_WLAN=y\n"
    assert uml_kernel.lost_lines(wanted, "CONFIG_WLAN=y\nCONFIG_MAC80211=m\n") == []
    assert uml_kernel.lost_lines(wanted, "CONFIG_WLAN=y\n# CONFIG_MAC80211 is not set\n") == [
        "CONFIG_MAC80211=m"
    ]


def test_a_package_that_is_no_source_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("dpkg-deb") is None:
        pytest.skip("needs dpkg-deb")
    monkeypatch.setenv("AIRTOLL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(uml_kernel, "_check_tools", lambda: None)
    monkeypatch.setattr(uml_kernel, "_ROOM_BYTES", 0)
    (tmp_path / "tree" / "DEBIAN").mkdir(parents=True)
    (tmp_path / "tree" / "DEBIAN" / "control").write_text(
        "Package: linux-source-none\nVersion: 1\nArchitecture: all\n"
        "Maintainer: none <n@example.org>\nDescription: none\n"
    )
    deb = tmp_path / "source.deb"
    argv = ["dpkg-deb", "--build", str(tmp_path / "tree"), str(deb)]
    subprocess.run(argv, check=True, capture_output=True)
    with pytest.raises(EnvironmentProblem, match="linux-source"):
        uml_kernel.build(deb)
    assert uml_kernel.find() is None


def _break_out(guest: contract.Guest, victim: Path) -> None:
    """Try as the guest's root to reach a file of the host past the read-only mount."""
    for place in ("/host", "/", "/share/.."):
        script = (
            f"mkdir -p /mnt/out && mount -t hostfs -o {place} none /mnt/out || exit 3; "
            f"for at in /mnt/out /mnt/out/host; do echo changed > $at{victim}; "
            f"chmod 777 $at{victim}; rm -f $at{victim}; touch $at/tmp/airtoll-was-here; "
            "echo changed > $at/proc/sys/kernel/hostname; done; umount /mnt/out"
        )
        assert guest.run(["sh", "-c", script]).status != 3, "hostfs must be there to be tried"
    assert not Path("/tmp/airtoll-was-here").exists()
    assert "changed" not in Path("/proc/sys/kernel/hostname").read_text()


@pytest.mark.guest
@every_driver
def test_guest_runs_calls_reports_and_leaves_nothing(tmp_path: Path, driver: str) -> None:
    # A share with a space in its name: kernels split their command lines there.
    with drivers.make(tmp_path / "the share", driver) as guest:
        pid = guest.pid
        done = guest.run(["sh", "-c", "cat; echo no >&2; exit 3"], stdin=b"hello")
        assert (done.status, done.stdout, done.stderr) == (3, b"hello", b"no\n")
        assert guest.run(["uname", "-r"]).stdout.decode().strip() == guest.kernel_release
        # The host's files are there, and cannot be changed from inside.
        victim = Path(__file__)
        before = victim.read_bytes()
        guest.run(["sh", "-c", f"echo changed > {victim}"])
        assert victim.read_bytes() == before
        if driver == "uml":
            _break_out(guest, victim)
            assert victim.read_bytes() == before
        guest.run(["sh", "-c", "echo kept > /run/airtoll-share/note"])
        # More than any buffer on the way, and every octet value: both ways.
        data = bytes(range(256)) * 2048
        assert guest.run(["cat"], stdin=data).stdout == data
        assert guest.run(["modprobe", "--dry-run", "mac80211_hwsim"]).status == 0
        assert guest.call("math:sqrt", 9) == 3.0
        with pytest.raises(contract.GuestError, match="No such file"):
            guest.run(["/no/such/program"])
        with pytest.raises(contract.GuestError, match="took too long"):
            guest.run(["sleep", "60"], timeout_s=0.5)
        with pytest.raises(contract.GuestError, match="math domain"):
            guest.call("math:sqrt", -1)
        children = psutil.Process(pid).children(recursive=True)
        psutil.Process(pid).kill()
        with pytest.raises(contract.GuestError, match="guest died"):
            guest.run(["true"])
    assert not psutil.pid_exists(pid)
    assert not psutil.wait_procs(children, timeout=5)[1]
    assert (tmp_path / "the share" / "note").read_text() == "kept\n"


@pytest.mark.guest
@pytest.mark.slow
@every_driver
def test_guest_of_a_killed_owner_is_ended(tmp_path: Path, driver: str) -> None:
    program = """
        import sys, time
        from pathlib import Path
        from airtoll.testbeds.guest import drivers
        with drivers.make(Path(sys.argv[1]), sys.argv[2]) as guest:
            print(guest.pid, flush=True)
            time.sleep(600)
    """
    owner = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path), driver],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    children = psutil.Process(pid).children(recursive=True)
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    # Either the agent saw its host leave and powered off, or the next start ends it.
    contract.clean()
    psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], timeout=10)
    assert not psutil.wait_procs(children, timeout=10)[1]
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie"
