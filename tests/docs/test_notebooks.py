"""The notebooks of the documentation run from top to bottom."""

from __future__ import annotations

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: make venv")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: make venv")
pytest.importorskip("pandas", reason="pandas is not installed: make venv")

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.pages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are not checked in"
    done = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    shown = [out for cell in done.cells for out in cell.get("outputs", [])]
    assert any("text/html" in out.get("data", {}) for out in shown)
