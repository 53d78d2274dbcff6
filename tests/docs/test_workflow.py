"""The workflow that builds and publishes wheels, as far as it can be checked without running it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def tool(name: str, why: str) -> str:
    found = shutil.which(name, path=PATH)
    if found is None:
        pytest.skip(f"{name} is not installed: {why}")
    return found


def jobs(path: Path) -> dict:
    return yaml.safe_load(path.read_text())["jobs"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_zizmor_finds_nothing(path):
    program = tool("zizmor", "make venv")
    done = subprocess.run(
        [program, "--offline", "--persona", "auditor", "--no-progress", path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No findings" in done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actionlint_finds_nothing(path):
    program = tool("actionlint", "go install github.com/rhysd/actionlint/cmd/actionlint@latest")
    done = subprocess.run([program, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_name_their_release(path):
    used = re.findall(r"uses: *(\S+)(.*)", path.read_text())
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


def test_only_the_publishing_job_has_an_identity_and_there_is_no_secret():
    (path,) = WORKFLOWS
    assert "secrets." not in path.read_text()
    with_identity = {
        name for name, job in jobs(path).items() if "id-token" in job.get("permissions", {})
    }
    assert with_identity == {"publish"}
    assert jobs(path)["publish"]["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert "--trusted-publishing always" in jobs(path)["publish"]["steps"][-1]["run"]


def test_the_wheel_of_every_platform_is_tried_before_it_is_kept():
    (path,) = WORKFLOWS
    steps = jobs(path)["wheel"]["steps"]
    uses = [step.get("uses", "").partition("@")[0] for step in steps]
    tried = next(i for i, step in enumerate(steps) if 'airtoll" run' in step.get("run", ""))
    assert uses.index("PyO3/maturin-action") < tried < uses.index("actions/upload-artifact")
