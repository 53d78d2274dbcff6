"""Writes the Python classes of ``airtoll.border`` from the JSON Schema of the Rust types.

Runs ``cargo run --package airtoll-border``, which prints the schema; writes ``requests.py`` (frozen
attrs classes: Python builds them, Rust reads them) and ``answers.py`` (typed dictionaries: Rust
writes them, Python reads them). With ``--check`` it writes nothing and fails where a file differs.
"""

from __future__ import annotations

import argparse
import json
import keyword
import re
import subprocess
import sys
import textwrap
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "python" / "airtoll" / "border"
WIDTH = 100
#: An array with at most this many items of fixed number becomes a tuple written out.
SHORT = 4

Schema = dict[str, Any]


def main() -> int:
    """Write or check both files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail where a file differs")
    arguments = parser.parse_args()
    schema = printed_schema()
    stale = []
    for name, writer in (("requests", Requests), ("answers", Answers)):
        path = FOLDER / f"{name}.py"
        text = formatted(writer(schema[name]).module(), path)
        if path.exists() and path.read_text("utf-8") == text:
            continue
        stale.append(path.relative_to(ROOT))
        if not arguments.check:
            path.write_text(text, "utf-8")
    for path in stale:
        said = "differs from the Rust types: make border" if arguments.check else "written"
        print(f"border: {path} {said}")
    return int(arguments.check and bool(stale))


def printed_schema() -> Schema:
    """The schema that the Rust types have now."""
    # Named beside the native module it gets the same features of its dependencies, built once.
    command = ["cargo", "build", "--quiet", "--locked", "--profile", "quick"]
    command += ["-p", "airtoll-python", "-p", "airtoll-border", "--bin", "airtoll-border"]
    command += ["--features", "airtoll-python/extension-module,airtoll-border/schema"]
    command += ["--message-format", "json"]
    told = subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    (program,) = (found for line in told if (found := json.loads(line).get("executable")))
    schema: Schema = json.loads(subprocess.check_output([program], cwd=ROOT))
    return schema


def formatted(text: str, path: Path) -> str:
    """The text as ``ruff format`` leaves it."""
    ruff = Path(sys.executable).parent / "ruff"
    command = [str(ruff), "format", "--stdin-filename", str(path), "-"]
    done = subprocess.run(
        command, input=text, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def camel(name: str) -> str:
    """``fixed_mcs`` as ``FixedMcs``."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


def constant(kind: str, value: str) -> str:
    """The name of an enumeration's member: ``STATION``; ``TLS_VERSION_1_2`` before a digit."""
    name = re.sub(r"[^A-Z0-9]+", "_", value.upper())
    return f"{re.sub(r'(?<!^)(?=[A-Z])', '_', kind).upper()}_{name}" if name[0].isdigit() else name


def words(text: str, indent: int) -> list[str]:
    """Paragraphs of a description, wrapped."""
    room = WIDTH - indent
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        if lines:
            lines.append("")
        lines += textwrap.wrap(paragraph, room, break_long_words=False, break_on_hyphens=False)
    return lines


def docstring(text: str, indent: int) -> list[str]:
    """A docstring's lines."""
    lines = words(text, indent + 6)
    if len(lines) == 1:
        return [f'"""{lines[0]}"""']
    return [f'"""{lines[0]}', *lines[1:], '"""']


def member(schema: Schema) -> str | None:
    """The one value that a schema of an enumeration's member has."""
    return schema.get("const") if schema.get("type") == "string" else None


class Writer(ABC):
    """One Python module of definitions, each after those that it needs."""

    about: str
    imports: str

    def __init__(self, definitions: Schema) -> None:
        self.definitions = definitions
        self.lines: list[str] = []
        self.written: set[str] = set()
        self.exported: list[str] = []

    def module(self) -> str:
        """The text of the module."""
        for name in self.definitions:
            self.define(name)
        names = "".join(f'    "{name}",\n' for name in sorted(self.exported))
        origin = "Written by `make border` from the Rust types; not edited by hand."
        head = f'"""{self.about}\n\n{origin}\n"""\n'
        return f"{head}\n{self.imports}\n__all__ = [\n{names}]\n" + "\n".join(self.lines) + "\n"

    def define(self, name: str) -> None:
        """Write a definition, and before it those that it refers to."""
        if name in self.written:
            return
        self.written.add(name)
        schema = self.definitions[name]
        for other in re.findall(r'"#/\$defs/([^"]+)"', json.dumps(schema)):
            self.define(other)
        kind, choices = camel(name), schema.get("oneOf", schema.get("anyOf"))
        if "enum" in schema:
            self.enumeration(kind, [(value, "") for value in schema["enum"]], schema)
        elif choices is None:
            self.record(kind, schema, None)
        elif all(member(choice) or "enum" in choice for choice in choices):
            self.enumeration(kind, list(members(choices)), schema)
        else:
            self.union(kind, choices, schema)

    def union(self, kind: str, choices: list[Schema], schema: Schema) -> None:
        """A class for each variant, and their union."""
        names = []
        for choice in choices:
            if values := [value for value, _ in members([choice])]:
                names += [f'Literal["{value}"]' for value in values]
                continue
            tag = next((key for key, of in choice["properties"].items() if "const" in of), None)
            key = choice["properties"][tag]["const"] if tag else next(iter(choice["properties"]))
            names.append(kind + camel(key))
            self.record(names[-1], choice, tag)
        self.exported.append(kind)
        self.lines += ["", *comment(schema), f"{kind} = {' | '.join(names)}"]

    def type_of(self, schema: Schema) -> str:
        """The annotation of a value."""
        if "$ref" in schema:
            return camel(schema["$ref"].removeprefix("#/$defs/"))
        if "const" in schema:
            return f'Literal["{schema["const"]}"]'
        if choices := schema.get("anyOf", schema.get("oneOf")):
            return " | ".join(self.type_of(choice) for choice in choices)
        kind = schema["type"]
        if isinstance(kind, list):
            return " | ".join(self.type_of({**schema, "type": one}) for one in kind)
        if kind == "array":
            return self.array_of(schema)
        if kind == "object":
            return self.mapping_of(self.type_of(schema["additionalProperties"]))
        plain = {
            "null": "None",
            "integer": "int",
            "number": "float",
            "boolean": "bool",
            "string": "str",
        }
        return plain[kind]

    @abstractmethod
    def enumeration(self, kind: str, values: list[tuple[str, str]], schema: Schema) -> None:
        """Write a type of a few strings."""

    @abstractmethod
    def record(self, kind: str, schema: Schema, tag: str | None) -> None:
        """Write a class; ``tag``: the field that names the variant."""

    @abstractmethod
    def array_of(self, schema: Schema) -> str:
        """The annotation of an array."""

    @abstractmethod
    def mapping_of(self, value: str) -> str:
        """The annotation of an object whose keys are data."""


class Requests(Writer):
    """Frozen attrs classes and string enumerations."""

    about = "Requests: Python builds these classes, the native module reads them as JSON."
    imports = """from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from airtoll.border.value import Value, field, frozen
"""

    def enumeration(self, kind: str, values: list[tuple[str, str]], schema: Schema) -> None:
        """A ``StrEnum``."""
        self.exported.append(kind)
        self.lines += ["", "", f"class {kind}(StrEnum):", *about(schema)]
        for value, text in values:
            self.lines += ["", f'    {constant(kind, value)} = "{value}"']
            if text:
                self.lines += indented(docstring(text, 4))

    def record(self, kind: str, schema: Schema, tag: str | None) -> None:
        """A frozen attrs class; its fields are given by name."""
        self.exported.append(kind)
        head = ["@frozen(kw_only=True, eq=False, repr=False)", f"class {kind}(Value):"]
        self.lines += ["", "", *head, *about(schema)]
        required = schema.get("required", [])
        for name, of in schema["properties"].items():
            if name == tag:
                value = of["const"]
                line = f'    {name}: Literal["{value}"] = field(default="{value}", init=False)'
                self.lines += ["", line]
                continue
            line = f"    {name}: {self.type_of(of)}"
            if name not in required:
                if "default" not in of:
                    raise ValueError(f"{kind}.{name}: the schema has no default (derive Serialize)")
                line += f" = {self.default(of, of['default'])}"
            self.lines += ["", line]
            if "description" in of:
                self.lines += indented(docstring(of["description"], 4))

    def array_of(self, schema: Schema) -> str:
        """A tuple; octets are ``bytes``."""
        if "prefixItems" in schema:
            return f"tuple[{', '.join(self.type_of(one) for one in schema['prefixItems'])}]"
        items = schema["items"]
        if items.get("format") == "uint8":
            return "bytes"
        one, count = self.type_of(items), schema.get("maxItems")
        if count is not None and count <= SHORT:
            return f"tuple[{', '.join([one] * count)}]"
        return f"tuple[{one}, ...]"

    def mapping_of(self, value: str) -> str:
        """A mapping."""
        return f"Mapping[str, {value}]"

    def default(self, schema: Schema, value: Any) -> str:
        """The Python expression of a default."""
        if value is None or isinstance(value, bool):
            return repr(value)
        if "$ref" in schema:
            return self.default_of(schema["$ref"].removeprefix("#/$defs/"), value)
        if isinstance(value, dict):
            return f"MappingProxyType({value!r})"
        if isinstance(value, list):
            if schema.get("items", {}).get("format") == "uint8":
                return repr(bytes(value))
            of = schema.get("items", {})
            items = ", ".join(self.default(of, one) if "$ref" in of else repr(one) for one in value)
            return f"({items},)" if len(value) == 1 else f"({items})"
        if schema["type"] == "number" or "number" in schema["type"]:
            return repr(float(value))
        return repr(value)

    def default_of(self, name: str, value: Any) -> str:
        """The same for a value of a definition."""
        schema, kind = self.definitions[name], camel(name)
        if isinstance(value, str):
            return f"{kind}.{constant(kind, value)}"
        for choice in schema.get("oneOf", [schema]):
            properties = choice["properties"]
            tag = next((key for key, of in properties.items() if "const" in of), None)
            if tag is None:
                return f"{kind}({self.arguments(properties, value)})"
            if properties[tag]["const"] == value[tag]:
                given = {key: one for key, one in value.items() if key != tag}
                return f"{kind}{camel(value[tag])}({self.arguments(properties, given)})"
        raise ValueError(f"no variant of {name} is {value}")

    def arguments(self, properties: Schema, value: Schema) -> str:
        """Arguments that are not defaults themselves."""
        given = {
            key: one
            for key, one in value.items()
            if "default" not in properties[key] or properties[key]["default"] != one
        }
        return ", ".join(f"{key}={self.default(properties[key], of)}" for key, of in given.items())


class Answers(Writer):
    """Typed dictionaries and literals."""

    about = "Answers: the native module writes these as JSON, Python reads them as dictionaries."
    imports = """from __future__ import annotations

from typing import Literal, NotRequired, TypedDict
"""

    def enumeration(self, kind: str, values: list[tuple[str, str]], schema: Schema) -> None:
        """A ``Literal``."""
        self.exported.append(kind)
        items = ", ".join(f'"{value}"' for value, _ in values)
        self.lines += ["", *comment(schema), f"{kind} = Literal[{items}]"]

    def record(self, kind: str, schema: Schema, tag: str | None) -> None:
        """A ``TypedDict``; by call where a key is a keyword of Python."""
        self.exported.append(kind)
        required = schema.get("required", [])
        fields = {
            name: self.type_of(of) if name in required else f"NotRequired[{self.type_of(of)}]"
            for name, of in schema["properties"].items()
        }
        if any(keyword.iskeyword(name) for name in fields):
            self.lines += ["", *comment(schema), f'{kind} = TypedDict("{kind}", {{']
            for name, annotation in fields.items():
                self.lines += indented(comment(schema["properties"][name], 4))
                self.lines.append(f'    "{name}": {annotation},')
            self.lines += ["})"]
            return
        self.lines += ["", "", f"class {kind}(TypedDict):", *about(schema)]
        for name, annotation in fields.items():
            self.lines += ["", f"    {name}: {annotation}"]
            if text := schema["properties"][name].get("description"):
                self.lines += indented(docstring(text, 4))

    def array_of(self, schema: Schema) -> str:
        """A list."""
        return f"list[{self.type_of(schema['items'])}]"

    def mapping_of(self, value: str) -> str:
        """A dictionary."""
        return f"dict[str, {value}]"


def members(choices: list[Schema]) -> list[tuple[str, str]]:
    """Values of an enumeration with their descriptions."""
    found = []
    for choice in choices:
        if (value := member(choice)) is not None:
            found.append((value, choice.get("description", "")))
        found += [(value, "") for value in choice.get("enum", [])]
    return found


def about(schema: Schema) -> list[str]:
    """The docstring of a class."""
    return indented(docstring(schema.get("description", "A variant."), 4))


def comment(schema: Schema, indent: int = 0) -> list[str]:
    """The comment of an alias."""
    lines = words(schema.get("description", ""), indent + 3)
    return [f"#: {line}" for line in lines if line]


def indented(lines: list[str]) -> list[str]:
    """Lines of a class body."""
    return [f"    {line}" if line else "" for line in lines]


if __name__ == "__main__":
    sys.exit(main())
