"""The check of tuples finds members of one type in parameters and results, and nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    spec = importlib.util.spec_from_file_location("tuples", ROOT / "tools/tuples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fn f(ends: (NodeId, NodeId)) {}", "(NodeId, NodeId)"),
        ("fn f(&self, (from, to): (&'a str, &str), n: u8) -> u8 {}", "(&str, &str)"),
        ("fn f() -> Option<(u32, u32)>;", "(u32, u32)"),
        ("fn f<T: Fn(u8) -> u8>(x: T) -> Result<(Vec<u8>, u8, Vec<u8>), E> {}",
         "(Vec<u8>, u8, Vec<u8>)"),
        ("fn f(x: &[(f64, f64)]) {}", "(f64, f64)"),
        ("fn f(ends: Ends, x: (u8, u16)) -> (u8, i8) { let y: (u8, u8) = g(); }", None),
        ("fn f(g: impl Fn(u8, u8) -> u8) {}", None),
        ("// fn f(x: (u8, u8)) {}\nconst X: &str = \"fn f(x: (u8, u8)) {}\";", None),
        ("#[cfg(test)]\nmod tests {\n    fn f(x: (u8, u8)) {}\n}", None),
    ],
)  # fmt: skip
def test_tuples_of_signatures(tool: ModuleType, text: str, found: str | None) -> None:
    assert [members for _, members in tool.of_file(text)] == ([found] if found else [])


def test_a_tuple_in_a_crate_is_named(
    tool: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = tmp_path / "crates/c/src"
    source.mkdir(parents=True)
    (source / "lib.rs").write_text("fn ends() -> (u8, u8) { (0, 1) }\n")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    assert tool.main() == 1
    assert capsys.readouterr().out.startswith("crates/c/src/lib.rs: ends (u8, u8)")


def test_the_crates_have_none(tool: ModuleType) -> None:
    assert tool.main() == 0
