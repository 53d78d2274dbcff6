"""The wheel in an empty environment, used from an empty folder outside the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

pytestmark = pytest.mark.wheel

ROOT = Path(__file__).resolve().parents[2]
#: Most octets of a base installation, and of what an installer downloads for it.
MOST_UNPACKED = 300e6
MOST_DOWNLOADED = 120e6
STUDY = """
[study]
name = "mine"
title = "A study of one's own"

[trials]
repetitions = 2

[scenario.home]
phy = "802.11a"
stations = [{ name = "A", position_m = [5.0, 0.0] }]

[traffic.udp]
transport = "udp"
duration_s = 0.5

[grid]
policy = ["open", "wpa2-psk-ccmp"]
"""


def unoptimised(folder: Path) -> dict[str, str]:
    """The environment of a build below the folder, whose module is not run.

    By the profile of the tests, whose dependencies are there; crates of our own, which another
    path has compiled again, without optimisation: it would take most of the time.
    """
    crates = (path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml"))
    (folder / ".cargo").mkdir()
    (folder / ".cargo" / "config.toml").write_text(
        "".join(f"[profile.quick.package.{crate}]\nopt-level = 0\n" for crate in crates)
    )
    return {"MATURIN_PEP517_ARGS": "--profile quick", "TMPDIR": str(folder)}


def tools() -> dict[str, str]:
    """The environment of a shell that finds maturin, and nothing of the checkout."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    path = os.pathsep.join([str(Path(sys.executable).parent), inherited["PATH"]])
    # One target folder for checkout and source distribution: dependencies are built once.
    target = inherited.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    return {**inherited, "PATH": path, "CARGO_TARGET_DIR": target}


def command(
    *words: object, cwd: Path, more: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=tools() | more, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    if shutil.which("maturin", path=tools()["PATH"]) is None:
        pytest.skip("maturin is not installed: make venv")
    folder = tmp_path_factory.mktemp("dist")
    command("sh", ROOT / "tools" / "wheel.sh", folder, cwd=ROOT)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def downloads(wheel, tmp_path_factory) -> Path:
    """Everything that an installer fetches for a base install."""
    folder = tmp_path_factory.mktemp("downloads")
    # Without the lock's hashes: pip would ask for one of the wheel, too.
    pinned = re.findall(
        r"^[\w.-]+==[^\s\\;]+", (ROOT / "requirements.lock").read_text(), re.MULTILINE
    )
    constraints = tmp_path_factory.mktemp("constraints") / "constraints.txt"
    constraints.write_text("\n".join(pinned))
    command(
        sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--constraint",
        constraints, "--dest", folder, wheel, cwd=folder,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def installed(wheel, downloads, tmp_path_factory) -> Path:
    """The bin folder of an environment that holds the wheel and what it needs."""
    place = tmp_path_factory.mktemp("empty") / "venv"
    command(sys.executable, "-m", "venv", "--without-pip", place, cwd=place.parent)
    command(
        sys.executable, "-m", "pip", "--python", place / "bin" / "python", "install", "--quiet",
        "--no-index", "--find-links", downloads, wheel, cwd=place.parent,
    )  # fmt: skip
    return place / "bin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("elsewhere")


def test_a_base_install_is_small(downloads, installed):
    downloaded = sum(path.stat().st_size for path in downloads.iterdir())
    files = [p for p in installed.parent.rglob("*") if p.is_file() and not p.is_symlink()]
    # pip compiles modules after it unpacked them; uv does not.
    bytecode = sum(path.stat().st_size for path in files if path.suffix == ".pyc")
    unpacked = sum(path.stat().st_size for path in files) - bytecode
    print(
        f"downloaded {downloaded / 1e6:.1f} MB, unpacked {unpacked / 1e6:.1f} MB, "
        f"bytecode {bytecode / 1e6:.1f} MB"
    )
    assert downloaded < MOST_DOWNLOADED
    assert unpacked < MOST_UNPACKED
    names = {path.name.lower() for path in downloads.iterdir()}
    assert not [n for n in names if n.startswith(("scipy", "matplotlib", "fonttools", "pandas"))]


@pytest.mark.parametrize(
    "policy",
    [
        "owe-ccmp",
        "wpa2-eap-peap-ccmp",
        "wpa2-psk-ccmp+ipsec-aes-gcm",
        "wpa2-psk-ccmp+wireguard",
        "wpa3-eap-tls-gcmp-256",
        "wpa3-sae-gcmp-256",
    ],
)
def test_the_wheel_gives_the_octets_of_the_quick_build(installed, folder, tmp_path, policy):
    """The wheel has AWS-LC and link-time optimisation, the module of the checkout has neither."""
    words = ("capture", "example", policy, "--out")
    command(installed / "airtoll", *words, tmp_path / "wheel", cwd=folder)
    command(sys.executable, "-m", "airtoll.cli", *words, tmp_path / "quick", cwd=folder)
    for name in ("air.pcapng", "wire.pcapng", "keys.json"):
        made = [(tmp_path / build / name).read_bytes() for build in ("wheel", "quick")]
        assert made[0] == made[1]


def test_a_study_runs_and_has_its_page(installed, folder):
    command(installed / "airtoll", "run", "quickstart", "--trials", 2, "--out", "run", cwd=folder)
    page = (folder / "run" / "report.html").read_text()
    assert page.count("<svg") >= 2
    assert 'id="simulator"' in page
    assert "pip install &#39;airtoll[print]&#39;" in page
    figures = sorted(path.suffix for path in (folder / "run" / "figures").iterdir())
    assert set(figures) == {".svg"}


def test_a_study_of_ones_own_runs(installed, folder):
    (folder / "mine.toml").write_text(STUDY)
    command(installed / "airtoll", "run", "mine.toml", "--out", "own", cwd=folder)


def test_a_run_is_compared_with_printed_figures(installed, folder):
    command(
        installed / "airtoll", "run", "tripathi2008", "--trials", 2, "--out", "tripathi", cwd=folder
    )
    done = command(installed / "airtoll", "compare", "tripathi", "tripathi2008", cwd=folder)
    assert "WPA" in done.stdout


def test_shipped_studies_and_data_sets_are_there(installed, folder):
    listed = command(installed / "airtoll", "studies", "list", cwd=folder).stdout
    for path in (ROOT / "studies").glob("*.toml"):
        assert path.stem in listed
    sets = command(installed / "airtoll", "datasets", "list", cwd=folder).stdout
    for path in (ROOT / "datasets").glob("*/dataset.toml"):
        assert path.parent.name in sets
    command(installed / "airtoll", "advise", "--help", cwd=folder)
    done = command(installed / "airtoll", "doctor", cwd=folder)
    assert "shipped" in done.stdout


def test_ciphers_are_timed(installed, folder):
    command(
        installed / "airtoll", "ciphers", "bench", "--rounds", 6, "--only", "ccmp-128", cwd=folder
    )


def test_a_capture_has_its_report(installed, folder):
    capture = next((ROOT / "tests" / "capture").rglob("*.pcap*"))
    command(installed / "airtoll", "capture", "report", capture, cwd=folder)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the medium is a Linux program")
def test_the_medium_is_beside_the_interpreter(installed, folder):
    done = subprocess.run(
        [installed / "airtoll-medium"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "usage" in done.stderr.lower() + done.stdout.lower()


def test_a_missing_extra_is_named_with_its_command(installed, folder):
    code = "from airtoll.analyse.calibration import optimisers; optimisers()"
    done = subprocess.run(
        [installed / "python", "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "pip install 'airtoll[calibrate]'" in done.stderr


def test_the_sdist_builds_the_same_package(wheel, tmp_path):
    """As an installer does it: by the build backend that the source distribution names."""
    command("maturin", "sdist", "--out", tmp_path, cwd=ROOT)
    (source,) = tmp_path.glob("*.tar.gz")
    command(
        sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps",
        "--wheel-dir", tmp_path / "built", source, cwd=tmp_path, more=unoptimised(tmp_path),
    )  # fmt: skip
    (built,) = (tmp_path / "built").glob("*.whl")

    def content(path: Path) -> set[str]:
        names = subprocess.run(
            [sys.executable, "-m", "zipfile", "-l", path], capture_output=True, text=True,
            check=True,
        ).stdout.splitlines()[1:]  # fmt: skip
        listed = {name.split()[0] for name in names}
        # Records and the SBOM are of the build, not of the package.
        return {name for name in listed if ".dist-info/" not in name}

    assert content(built) == content(wheel)
    if sys.platform.startswith("linux"):
        assert any(name.endswith("/scripts/airtoll-medium") for name in content(built))


def test_uvx_runs_the_quickstart_from_the_wheel(wheel, downloads, folder, tmp_path):
    """Without the network: uv resolves from what an installer fetched for a base install."""
    uv = shutil.which("uv", path=tools()["PATH"])
    if uv is None:
        pytest.skip("uv is not installed: pip install uv")
    cache = tmp_path / "cache"
    command(
        uv, "tool", "run", "--no-config", "--cache-dir", cache, "--no-index",
        "--find-links", downloads, "--python", sys.executable, "--from", wheel,
        "airtoll", "run", "quickstart", "--out", "uvx",
        cwd=folder,
    )  # fmt: skip
    assert (folder / "uvx" / "report.html").exists()
    # An environment of uv is hard links into its archive: each file counts once.
    files = {p.stat().st_ino: p.stat().st_size for p in cache.rglob("*") if p.is_file()}
    unpacked = sum(files.values())
    print(f"the cache of uv holds {unpacked / 1e6:.1f} MB")
    assert unpacked < MOST_UNPACKED
