"""The check of import cycles finds one between files, folders and modules of Rust."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    spec = importlib.util.spec_from_file_location("cycles", ROOT / "tools/cycles.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package and a crate without cycles."""
    files = {
        "python/airtoll/__init__.py": "def __getattr__(name):\n    from airtoll import a\n",
        "python/airtoll/a.py": "from airtoll.folder.one import X\nimport airtoll\n",
        "python/airtoll/folder/__init__.py": "from airtoll.folder.one import X\n",
        "python/airtoll/folder/one.py": "if TYPE_CHECKING:\n    from airtoll.a import Y\nX = 1\n",
        "crates/c/src/lib.rs": "mod a;\nmod b;\npub use a::X;\n",
        "crates/c/src/a.rs": "use crate::b::{Y, deep::Z};\nmod inner;\n",
        "crates/c/src/a/inner.rs": "use super::X;\n",
        "crates/c/src/b.rs": "//! crate::a\n#[cfg(test)]\nmod tests {\n    use crate::a::X;\n}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_tree_without_cycles(tool: ModuleType, tree: Path) -> None:
    assert tool.found_in(tree) == {}


#: `make lint` runs the tool as well.
@pytest.mark.thorough
def test_the_crates_and_the_package_have_no_cycle(tool: ModuleType) -> None:
    assert tool.main() == 0


@pytest.mark.parametrize(
    ("name", "text", "folder", "cycle"),
    [
        ("python/airtoll/folder/one.py", "from airtoll.a import Y\n", "python/airtoll", "a folder"),
        (
            "python/airtoll/folder/one.py",
            "def f():\n    from airtoll import a\n",
            "python/airtoll",
            "a folder",
        ),
        (
            "python/airtoll/folder/one.py",
            "from . import Z\n",
            "python/airtoll/folder",
            "__init__ one",
        ),
        ("crates/c/src/b.rs", "use crate::a::X;\n", "crates/c/src", "a b"),
        ("crates/c/src/b.rs", "fn f() -> super::a::inner::X {}\n", "crates/c/src", "a b"),
        ("crates/c/src/b/deep.rs", "use crate::{a as other};\n", "crates/c/src", "a b"),
    ],
)
def test_a_cycle_is_found(
    tool: ModuleType,
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    text: str,
    folder: str,
    cycle: str,
) -> None:
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text)
    assert tool.found_in(tree) == {folder: [set(cycle.split())]}
    monkeypatch.setattr(tool, "ROOT", tree)
    assert tool.main() == 1
    assert "import one another" in capsys.readouterr().out
