"""Find import cycles between the files and folders of each Rust crate and of the Python package.

    python tools/cycles.py           list the cycles; exit 1 on one

Two modules are compared where their paths part: files and sub-folders of one folder are siblings,
and an import between anything in two of them is one arrow. Siblings must not form a cycle. In Rust
a module and its own children are one unit, as their privacy is. In Python a file that imports from
the `__init__` of its own package is in a cycle with it. Imports inside functions count, those for
type checkers alone do not. Tests are left out.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rust_sources import Module, code, modules

ROOT = Path(__file__).resolve().parents[1]


def cycles(arrows: Mapping[str, Iterable[str]]) -> list[set[str]]:
    """The sets of nodes that reach one another (Tarjan), largest first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(arrows.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = set()
            while True:
                last = stack.pop()
                part.add(last)
                if last == node:
                    break
            if len(part) > 1:
                found.append(part)

    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return sorted(found, key=lambda part: (-len(part), sorted(part)))


def by_folder(imports: Iterable[tuple[Module, Module]]) -> dict[Module, dict[str, set[str]]]:
    """Arrows between siblings, by the folder that holds both."""
    levels: dict[Module, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for source, target in imports:
        shared = 0
        while shared < min(len(source), len(target)) and source[shared] == target[shared]:
            shared += 1
        if shared < min(len(source), len(target)):
            levels[source[:shared]][source[shared]].add(target[shared])
    return levels


# Python


def python_imports(package: Path) -> Iterator[tuple[Module, Module]]:
    """Every import of one file of a package by another."""
    files = {
        module_of(file, package): file
        for file in sorted(package.rglob("*.py"))
        if "tests" not in file.parts
    }
    name = package.name
    for source, file in files.items():
        # The root's names are a facade: it imports them when they are asked for.
        if source == ("__init__",):
            continue
        for target in _named(ast.parse(file.read_text("utf-8")), name, source):
            found = _resolved(target, files)
            if found is not None and found != source:
                yield source, found


def module_of(file: Path, package: Path) -> Module:
    """The path of a module below its package."""
    return file.relative_to(package).with_suffix("").parts


def _named(tree: ast.AST, package: str, source: Module) -> Iterator[Module]:
    """Dotted names below the package that a file imports, the imported name last."""
    for node in _without_type_checking(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first, *rest = alias.name.split(".")
                if first == package:
                    yield tuple(rest)
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").split(".") if node.module else []
            if node.level:
                base = [package, *source[: len(source) - node.level], *base]
            if base[:1] == [package]:
                for alias in node.names:
                    yield (*base[1:], alias.name)


def _without_type_checking(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        yield node
        yield from _without_type_checking(node)


def _resolved(target: Module, files: Mapping[Module, Path]) -> Module | None:
    for length in range(len(target), -1, -1):
        head = target[:length]
        if head in files:
            return head
        if (*head, "__init__") in files:
            return (*head, "__init__")
    return None


# Rust


def rust_imports(source: Path) -> Iterator[tuple[Module, Module]]:
    """Every path of one module of a crate that names another one."""
    files = modules(source)
    for module, file in files.items():
        text = code(file.read_text("utf-8"))
        for path in rust_paths(text, module):
            length = len(path)
            while length and path[:length] not in files:
                length -= 1
            if path[:length] != module:
                yield module, path[:length]


def rust_paths(text: str, module: Module) -> Iterator[Module]:
    """Paths from the root of the crate that a text names with `crate`, `super` or `self`."""
    for match in re.finditer(r"\b(?:crate|super|self)(?=::)", text):
        if text[: match.start()].endswith("::"):
            continue
        base = {"crate": (), "self": module, "super": module[:-1]}[match[0]]
        yield from _tree(text, match.end(), base)[0]


def _tree(text: str, at: int, base: Module) -> tuple[list[Module], int]:
    """The paths of a use tree that goes on at `at`, and where it ends."""
    space = re.compile(r"\s*")
    at = space.match(text, at).end()  # type: ignore[union-attr]
    if not text.startswith("::", at):
        return [base], at
    at = space.match(text, at + 2).end()  # type: ignore[union-attr]
    if text.startswith("{", at):
        found: list[Module] = []
        at += 1
        while True:
            at = space.match(text, at).end()  # type: ignore[union-attr]
            if at >= len(text) or text[at] == "}":
                return found, at + 1
            word = re.compile(r"\w+|\*").match(text, at)
            if word is None:
                return found, at
            inner = base if word[0] in ("self", "*") else (*base, word[0])
            paths, at = _tree(text, word.end(), inner)
            found += paths
            rest = re.compile(r"(?:\s*as\s+\w+)?\s*,?").match(text, at)
            at = rest.end() if rest else at
    word = re.compile(r"\w+").match(text, at)
    if word is None:
        return [base], at
    inner = base[:-1] if word[0] == "super" else (*base, word[0])
    return _tree(text, word.end(), inner)


# All


def found_in(root: Path) -> dict[str, list[set[str]]]:
    """Folder -> its cycles, of every crate and of the package."""
    found: dict[str, list[set[str]]] = {}
    package = root / "python/airtoll"
    for folder, arrows in by_folder(python_imports(package)).items():
        if parts := cycles(arrows):
            found[(package / "/".join(folder)).relative_to(root).as_posix()] = parts
    for crate in sorted((root / "crates").iterdir()):
        for folder, arrows in by_folder(rust_imports(crate / "src")).items():
            if parts := cycles(arrows):
                place = crate / "src" / "/".join(folder)
                found[place.relative_to(root).as_posix()] = parts
    return found


def main() -> int:
    """List cycles; 1 where there is one."""
    found = found_in(ROOT)
    for folder, parts in sorted(found.items()):
        for part in parts:
            print(f"{folder}: {', '.join(sorted(part))} import one another")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
