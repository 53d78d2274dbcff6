"""Find sentences that are not plain technical English: a list of words and of word orders.

    python tools/plain_english.py             check the paths in CHECKED; exit 1 on a finding
    python tools/plain_english.py PATH...     check these files or folders

The check reads Markdown outside code, comments and strings of Python, Rust and TOML, and the text
of templates. A pattern finds a habit, not every bad sentence.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Paths that must be clean: all prose of the repository.
CHECKED: list[str] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "benchmarks",
    "crates",
    "datasets",
    "docs",
    "fuzz",
    "python",
    "studies",
    "tests",
    "tools",
]

# Files that quote the patterns themselves.
QUOTES = {"tools/plain_english.py", "tests/tools/test_plain_english.py"}

# A sentence starts at the beginning of a text or behind a full stop, colon or semicolon.
START = r"(?:^|(?<=[.!?:;] )|(?<=[.!?:;]\s\s)|(?<=\*\* )|(?<=[|#] )|(?<=- ))"

# (pattern, advice). Patterns ignore case unless they start with (?-i:.
PATTERNS: list[tuple[str, str]] = [
    (r"\brooms? of\b|\bin rooms\b", "name the file, module or section"),
    (r"\bin vain\b", "name the result: failed, lost, unanswered"),
    (r"\bcannot be meant\b", "write: cannot have, is invalid"),
    (r"\bin the place of\b|\bin (?:its|their|his) place\b", "write: instead of, replaces"),
    (r"\bwho(?:so)?ever\b|\bwhomever\b", "name the subject"),
    (r"\bnought\b", "write: zero"),
    (r"\bdrill\b", "name the procedure"),
    (r"\beverybody\b|\bsomebody\b", "name the node, station or user"),
    (r"\bnobody(?:'s)?\b", "name the subject: no station, no figure, none"),
    (r"\bgets? on\b|\bgot on\b", "write: joins, joined"),
    (r"\bput(?:s|ting)? (?:\w+ )?off the (?:network|air)\b", "write: deauthenticate"),
    (r"\bamid\b|\bin mid-", "write: during"),
    (r"\bmended\b", "write: fixed"),
    (r"\bto no avail\b|\bnowise\b|\bwherefore\b|\bthereof\b|\bheretofore\b", "use a plain word"),
    (r"\bas good as (?:none|nothing|no)\b", "state the quantity"),
    (r"\bmust needs\b|\bcome to naught\b", "use a plain word"),
    (r"\bthe (?:same )?eyes\b", "name the check"),
    (r"\bworks? off\b|\bworked off\b", "write: process, serve"),
    (r"\bof ours\b|\bof theirs\b", "name the owner"),
    (
        r"\bis asked for (?:by|from)\b|\bfrom which (?:the AP|it) asks\b",
        "write: requires, requests",
    ),
    (r"\bwithout which\b", "write: otherwise"),
    (r"\bas (?:much|many|often|far|long) as goes\b", "write: saturated, unlimited"),
    (r"\btake(?:s|n)? notice\b", "name the action"),
    (r"\bhowever (?:often|long|many|much|far)\b", "write: at any number, length"),
    (r"\b(?:no|any) word of\b", "write: does not know, does not name"),
    (r"\bstands? (?:open|beside|in|at|there|under|behind)\b(?! for)", "write: is in, is next to"),
    (r"\b(?:set|put|sets|puts) beside\b", "write: compared with, next to"),
    (r"\bgiven up (?:by|on) whoever\b", "name the subject"),
    (r"\bby (?:hands?|mouth) of\b", "use a plain word"),
    (r"\blikewise\b|\bwhence\b|\bthence\b", "write: therefore, so, also"),
    (r"\bit is the \w+ that\b", "subject first"),
    (
        START + r"(?-i:What|Whose|Whom|Who)\b(?![^?]{0,200}\?)",
        "name the subject instead of a what/who clause",
    ),
    (
        r"(?:, and|, but|; ) ?(?:what|whom|who) (?:it|they|the|we|a|an|is|was|are|were|has|had)\b"
        r"[^.,;:?]* (?:is|are|was|were|has|have|does|do|goes|stays|comes|takes|gives)\b",
        "name the subject instead of a what/who clause",
    ),
    (
        START + r"(?-i:Nor) (?:is|are|was|were|does|do|did|has|have|can|will)\b",
        "subject first",
    ),
    (
        START + r"(?:Then|Here|Below|Above|Beneath|Behind|So|Thus|Hence|In|Also|There) "
        r"(?:come|comes|came|stand|stands|stood|lie|lies|lay|go|goes|follow|follows|sit|sits)\b",
        "subject first",
    ),
    (
        START + r"(?-i:So) (?:do|does|did|is|are|was|were|has|have|can|must) (?!not)",
        "subject first",
    ),
    (
        START + r"(?-i:Also|Not) (?:asserted|checked|tested|refused|counted|left|there|in) ?:",
        "subject and verb",
    ),
    (START + r"(?-i:Told|Asked|Given|Seen|Counted) (?:that|for|what|how|alike)\b", "subject first"),
    (
        START + r"(?-i:Only|Not until|No sooner|Never|Seldom|Rarely)\b[^.,;:]{0,40} "
        r"(?:is|are|was|were|does|do|did|has|have|can|will) (?:it|the|a|an|this|that|they)\b",
        "subject first",
    ),
]
COMPILED = [(re.compile(pattern, re.IGNORECASE), advice) for pattern, advice in PATTERNS]

# (path, text of the line): findings that stay, each with a reason in a comment.
ALLOWED: set[tuple[str, str]] = set()

Passage = tuple[int, str]


def passages(path: Path) -> Iterator[Passage]:
    """The prose of a file: pairs of first line number and text, code left out."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        yield from _markdown(text)
    elif path.suffix in (".py", ".pyi"):
        yield from _python(text)
    elif path.suffix == ".rs":
        yield from _comments(text, "//")
    elif path.suffix == ".toml":
        yield from _toml(text)
    elif path.suffix in (".html", ".j2"):
        for number, line in enumerate(text.splitlines(), 1):
            yield number, re.sub(r"\{[{%#].*?[}%#]\}|<[^>]*>", " ", line)


def _markdown(text: str) -> Iterator[Passage]:
    fenced = False
    block: list[str] = []
    first = 1
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        if fenced or (line.startswith("    ") and not block):
            line = ""
        if not line.strip() or re.match(r"\s*([-*#|]|\d+\.)\s?", line):
            if block:
                yield first, " ".join(block)
            block = []
        if line.strip():
            if not block:
                first = number
            block.append(re.sub(r"`[^`]*`", "`x`", line.strip()))


def _python(text: str) -> Iterator[Passage]:
    block: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        if block and token.start[0] != last + 1:
            yield first, " ".join(block)
            block = []
        if not block:
            first = token.start[0]
        last = token.start[0]
        block.append(token.string.lstrip("#").strip())
    if block:
        yield first, " ".join(block)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            for offset, part in enumerate(re.split(r"\n\s*\n", node.value)):
                yield node.lineno + 2 * offset, re.sub(r"`[^`]*`", "`x`", " ".join(part.split()))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.lineno, node.name.replace("_", " ")


def _comments(text: str, mark: str) -> Iterator[Passage]:
    block: list[str] = []
    first = 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        found = re.search(rf"(?:^|\s){mark}[/!]?\s?(.*)", line)
        if found and line.lstrip().startswith(mark) and found[1].strip():
            if not block:
                first = number
            block.append(re.sub(r"`[^`]*`", "`x`", found[1].strip()))
            continue
        if block:
            yield first, " ".join(block)
            block = []
        if found and found[1].strip():
            yield number, found[1].strip()
        for string in re.findall(r'"((?:[^"\\]|\\.)*)"', line.split(mark)[0]):
            if " " in string:
                yield number, string


def _toml(text: str) -> Iterator[Passage]:
    yield from _comments_of_toml(text)
    for match in re.finditer(r'"""(.*?)"""|"((?:[^"\\\n]|\\.)*)"', text, re.DOTALL):
        string = match[1] if match[1] is not None else match[2]
        if " " in string:
            yield (
                text.count("\n", 0, match.start()) + 1,
                " ".join(string.replace("\\\n", " ").split()),
            )


def _comments_of_toml(text: str) -> Iterator[Passage]:
    block: list[str] = []
    first = 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.startswith("#"):
            if not block:
                first = number
            block.append(line.lstrip("#").strip())
            continue
        if block:
            yield first, " ".join(block)
            block = []
        found = re.match(r'[^"#]*(?:"[^"]*"[^"#]*)*#(.*)', line)
        if found:
            yield number, found[1].strip()


def findings(path: Path) -> Iterator[str]:
    """One line per finding: file, line, the words, the advice."""
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
    for line, text in passages(path):
        for pattern, advice in COMPILED:
            for match in pattern.finditer(text):
                around = text[max(0, match.start() - 30) : match.end() + 40].strip()
                if (name, around) not in ALLOWED:
                    yield f"{name}:{line}: {around!r}: {advice}"


def files(paths: list[str]) -> list[Path]:
    """The files under version control at or below these paths that the check can read."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *paths]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    kinds = {".md", ".py", ".pyi", ".rs", ".toml", ".html", ".j2"}
    return [
        ROOT / name
        for name in sorted(listed.splitlines())
        if Path(name).suffix in kinds and name not in QUOTES and (ROOT / name).exists()
    ]


def main(paths: list[str]) -> int:
    """Print findings; 1 if there is one."""
    found = [line for path in files(paths or CHECKED) for line in findings(path)]
    sys.stdout.writelines(line + "\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
