"""Find tuples with members of one type in the signatures of Rust functions.

    python tools/tuples.py           list the tuples; exit 1 on one

Members of one type can be exchanged without an error of the compiler: `(from, to)`. A struct with
named fields cannot. Signatures in tests are left out, closures and local variables too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from rust_sources import code, modules

ROOT = Path(__file__).resolve().parents[1]

_OPEN, _CLOSE = "([<{", ")]>}"


def of_file(text: str) -> Iterator[tuple[str, str]]:
    """Name of the function and the tuple, for every such tuple of its signature."""
    for name, signature in signatures(code(text)):
        for members in tuples(signature):
            if len(set(members)) < len(members):
                yield name, f"({', '.join(members)})"


def signatures(text: str) -> Iterator[tuple[str, str]]:
    """Name, and text of the parameters and of the result, of every function."""
    for match in re.finditer(r"\bfn (\w+)", text):
        depth, at = 0, match.end()
        while at < len(text):
            one = text[at]
            if one == ">" and text[at - 1] == "-":
                at += 1
                continue
            if depth == 0 and one in "{;":
                break
            depth += (one in _OPEN) - (one in _CLOSE)
            at += 1
        yield match[1], re.split(r"\bwhere\b", text[match.end() : at])[0]


def tuples(signature: str) -> Iterator[list[str]]:
    """Member types of every tuple type of a signature."""
    # A parenthesis opens a tuple type unless it follows a name: parameters, or a closure's.
    for match in re.finditer(r"\(", signature):
        before = signature[: match.start()].rstrip()
        is_type = before.endswith((":", "->", "<", "(", ",", "&", "[", "mut")) or re.search(
            r"&'\w+$", before
        )
        if not is_type:
            continue
        members = list(_members(signature, match.end()))
        # A pattern of a parameter has names alone: its type follows.
        if len(members) > 1 and not _is_pattern(signature, match.start()):
            yield [re.sub(r"\s+", " ", re.sub(r"'\w+ ", "", one)) for one in members]


def _members(text: str, at: int) -> Iterator[str]:
    depth, start = 0, at
    while at < len(text):
        one = text[at]
        if one == ">" and text[at - 1] == "-":
            at += 1
            continue
        if depth == 0 and one in ",)":
            if text[start:at].strip():
                yield text[start:at].strip()
            if one == ")":
                return
            start = at + 1
        depth += (one in _OPEN) - (one in _CLOSE)
        at += 1


def _is_pattern(text: str, at: int) -> bool:
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            rest = text[place + 1 :].lstrip()
            return rest.startswith(":") and not rest.startswith("::")
    return False


def found_in(root: Path) -> dict[str, list[tuple[str, str]]]:
    """File -> its signatures with such a tuple, in all crates."""
    found = {}
    for crate in sorted((root / "crates").iterdir()):
        for file in modules(crate / "src").values():
            if here := list(of_file(file.read_text("utf-8"))):
                found[file.relative_to(root).as_posix()] = here
    return dict(sorted(found.items()))


def main() -> int:
    """List tuples; 1 where there is one."""
    found = found_in(ROOT)
    for file, here in found.items():
        for name, members in here:
            print(f"{file}: {name} {members}: write a struct with named fields")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
