"""Programs of this package for hosts that do not have it: one zip application, put there once.

Takes a host and the name of a module; gives the command that runs it there, by the host's own
python3. The archive has the module, what it imports of this package, and attrs, which is pure
Python, too. A module that needs the native module, or any other package, is refused.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import io
import secrets
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from airtoll.errors import EnvironmentProblem, TestbedError
from airtoll.testbeds.linux.hosts.host import Host

#: The first Python that runs airtoll's modules (``requires-python``).
LEAST: Final = (3, 11)
PYTHON: Final = "python3"
#: Packages that go with the programs, whole.
_PACKAGES: Final = ("attr", "attrs")
_OWN: Final = "airtoll"
#: A time for all members, so that equal programs are equal archives; the first that zip has.
_TIME: Final = (1980, 1, 1, 0, 0, 0)
_MAIN: Final = """\
import runpy
import sys

sys.argv[0] = sys.argv.pop(1)
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
#: Prints the version of a host's Python, or nothing.
_ASK: Final = f"command -v {PYTHON} >/dev/null 2>&1 && {PYTHON} -c 'import sys; print(sys.version)'"


async def ship(host: Host, folder: str, module: str) -> list[str]:
    """The command before a program's arguments on a host, to which the program has been put.

    Raises ``EnvironmentProblem`` where the host's Python is missing or too old.
    """
    octets = archive(module)
    path = f"{folder}/{module.rpartition('.')[2]}-{hashlib.sha256(octets).hexdigest()[:16]}.pyz"
    # Asked every time: a host that was rebooted has lost its /run.
    if not await host.exists(path):
        if (said := await without_python(host)) is not None:
            raise EnvironmentProblem(f"{host.name}: {said}; {mend(host.name)}")
        scratch = f"{path}.{secrets.token_hex(4)}"
        await host.put(scratch, octets)
        await host.run(["mv", scratch, path])
    return [PYTHON, "-I", path, module]


async def without_python(host: Host) -> str | None:
    """Why a host's own Python cannot run the programs, or None. Raises ``HostError``."""
    return too_old((await host.run(["sh", "-c", _ASK], check=False)).stdout)


def too_old(said: str) -> str | None:
    """Why a Python cannot run the programs, from what ``sys.version`` says; '' for none."""
    words = said.split()
    if not words:
        return f"no {PYTHON}"
    try:
        found = tuple(int(part) for part in words[0].split(".")[:2])
    except ValueError:
        return f"{PYTHON} says {words[0]!r} as its version"
    if found >= LEAST:
        return None
    return f"{PYTHON} is {words[0]}; {LEAST[0]}.{LEAST[1]} or later is needed"


def mend(name: str) -> str:
    """The cure of a host without a fitting Python."""
    return (
        f"on {name}: apt-get install --no-install-recommends python3 (opkg install python3-light "
        f"python3-openssl), {LEAST[0]}.{LEAST[1]} or later"
    )


@cache
def archive(module: str) -> bytes:
    """A zip application that carries out modules by their names, with what one of them needs.

    Raises ``TestbedError`` where it needs a module that cannot be sent.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, octets in sorted(_members(module)):
            file.writestr(zipfile.ZipInfo(name, _TIME), octets, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _members(module: str) -> Iterator[tuple[str, bytes]]:
    yield "__main__.py", _MAIN.encode()
    for package in _PACKAGES:
        (folder,) = importlib.util.find_spec(package).submodule_search_locations  # type: ignore[union-attr,misc]
        for path in Path(folder).rglob("*.py"):
            yield f"{package}/{path.relative_to(folder).as_posix()}", path.read_bytes()
    for path in closure(module).values():
        root = next(one for one in path.parents if one.name == _OWN)
        yield f"{_OWN}/{path.relative_to(root).as_posix()}", path.read_bytes()


def closure(module: str) -> dict[str, Path]:
    """The modules of this package that a module imports when it is loaded, itself with them.

    Raises ``TestbedError`` where one of them imports a module that cannot be sent.
    """
    found: dict[str, Path] = {}
    left = [module]
    while left:
        name = left.pop()
        if name in found or name.partition(".")[0] in _PACKAGES:
            continue
        if name.partition(".")[0] in sys.stdlib_module_names:
            continue
        path = _source(name)
        if path is None:
            raise TestbedError(
                f"linux: {module} cannot be sent to a host: it needs {name}, which is no pure "
                "Python"
            )
        found[name] = path
        if "." in name:
            left.append(name.rpartition(".")[0])
        left += _imports(ast.parse(path.read_text("utf-8")).body)
    return found


def _source(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    own = name.partition(".")[0] == _OWN
    if spec is None or spec.origin is None or not own or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin)


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


def _imports(body: list[ast.stmt]) -> Iterator[str]:
    """Modules that statements import when they are carried out, not those for type checkers."""
    for statement in body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module is not None:
            yield statement.module
            for alias in statement.names:
                whole = f"{statement.module}.{alias.name}"
                if statement.module.partition(".")[0] == _OWN and _is_module(whole):
                    yield whole
        elif isinstance(statement, ast.If | ast.Try):
            checks = isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test)
            yield from _imports(
                statement.orelse if checks else [*statement.body, *statement.orelse]
            )
