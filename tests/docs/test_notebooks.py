"""The notebooks of the documentation run from top to bottom."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.pages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    # Imported by the tests alone: each worker collects this file.
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: make dev")
    nbformat = pytest.importorskip("nbformat")
    for name in ("ipykernel", "pandas"):
        pytest.importorskip(name, reason=f"{name} is not installed: make dev")
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are not checked in"
    done = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    shown = [out for cell in done.cells for out in cell.get("outputs", [])]
    assert any("text/html" in out.get("data", {}) for out in shown)
