"""Sources of a Rust crate as the checks of `tools` read them: no tests, comments or strings."""

from __future__ import annotations

import re
from pathlib import Path

Module = tuple[str, ...]


def modules(source: Path) -> dict[Module, Path]:
    """Module -> its file, of every file below `src` that is no test; () is the root."""
    files = {
        _module(file, source): file
        for file in sorted(source.rglob("*.rs"))
        if not _is_test(file.relative_to(source))
    }
    for module, file in list(files.items()):
        for name in re.findall(r"#\[cfg\(test\)\]\s*mod (\w+);", file.read_text("utf-8")):
            files.pop((*module, name), None)
    return files


def _module(file: Path, source: Path) -> Module:
    parts = file.relative_to(source).with_suffix("").parts
    if parts[-1] == "mod" or parts in (("lib",), ("main",)):
        parts = parts[:-1]
    return parts


def _is_test(file: Path) -> bool:
    return any(part in ("tests", "tests.rs") or part.endswith("_tests.rs") for part in file.parts)


def code(text: str) -> str:
    """Code without comments, strings and the tests at the end of a file."""
    text = re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", text)[0]
    text = re.sub(r'r#*"(?:.|\n)*?"#*|"(?:\\.|[^"\\])*"', '""', text)
    return re.sub(r"//[^\n]*", "", text)
