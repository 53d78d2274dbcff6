"""Study files from disk or from the shipped ones.

Takes a path or the name of a shipped study; gives a checked :class:`Study`. Every mistake becomes
one :class:`StudyError` line: file, key path, value, what is allowed. Never expands the grid.
"""

from __future__ import annotations

import difflib
import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args, get_origin

from attrs import frozen
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from airtoll.errors import PolicyError, StudyError
from airtoll.foreign_text import shown, shown_line
from airtoll.policies import resolve
from airtoll.study.model import Compare, Scenario, Study, Traffic, with_level
from airtoll.study.question import Level, Question, Require
from airtoll.study.source import check_values, parse_toml, read_text

_AXES = ("scenario", "policy", "traffic")
#: Fields that say how long a trial lasts, which is no part of a name.
_LENGTHS = ("duration_s", "warm_up_s", "cool_down_s")
#: Most letters of a label.
_LABEL_LENGTH = 60
#: Keys that an error names at most.
_MOST_NAMED = 6
#: A file in the root of a checkout; no installed package has it next to it.
_MARK_OF_A_CHECKOUT = "crates/airtoll-python/Cargo.toml"
#: Most cells of a grid. More take gigabytes.
MOST_CELLS = 20_000


@frozen
class StudyFile:
    """A checked study, the path and text of its file, and the SHA-256 of the text."""

    study: Study
    path: Path
    text: str
    sha256: str


def studies_folder() -> Path:
    """The folder of shipped studies."""
    return data_folder("studies")


def data_folder(name: str) -> Path:
    """A folder of data that ships with airtoll: of the checkout, or inside an installed package.

    In a checkout a copy inside the package is stale, so that it counts for nothing there. Raises
    ``StudyError`` if the installation lacks the folder.
    """
    candidate = _shipped(name)
    if candidate.is_dir():
        return candidate
    raise StudyError(f"{name}: the folder that ships with airtoll is missing; install it again")


def data_file(name: str) -> Path:
    """A file that ships with airtoll, from the same places. Raises ``StudyError`` without it."""
    candidate = _shipped(name)
    if candidate.is_file():
        return candidate
    raise StudyError(f"{name}: the file that ships with airtoll is missing; install it again")


def _shipped(name: str) -> Path:
    # A package from a zip file would have no folders: installers unpack wheels.
    package = Path(str(files("airtoll")))
    root = package.parents[1]
    in_checkout = (root / _MARK_OF_A_CHECKOUT).is_file()
    return root / name if in_checkout else package / "data" / name


def shipped() -> dict[str, Path]:
    """Name -> file of every shipped study."""
    return {path.stem: path for path in sorted(studies_folder().glob("*.toml"))}


def load(name_or_path: str | Path) -> StudyFile:
    """The study of a path, or of the name of a shipped study.

    A file takes precedence over a shipped study of the same name, and the shipped study over a
    folder. A name with a slash or with the suffix ``.toml`` is a path.

    Raises ``StudyError`` for a missing, unreadable or wrong file.
    """
    try:
        path = _find(str(name_or_path))
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise StudyError(f"{str(name_or_path)[:100]}: cannot be a study: {said}") from error
    return parse(read_text(path), path)


def parse(text: str, path: Path) -> StudyFile:
    """The study of a TOML text; ``path`` is only named in errors."""
    data = parse_toml(text, path)
    try:
        study = Study.model_validate(data)
    except ValidationError as error:
        raise StudyError(_first_mistake(error, path)) from error
    study = _check_grid(study, path)
    _check_cards(study, path)
    return StudyFile(study, path, text, hashlib.sha256(text.encode()).hexdigest())


def with_values(
    file: StudyFile, values: Mapping[str, Level], *, recorded: bool = False
) -> StudyFile:
    """The same study with some dotted keys set, checked again.

    A smaller grid narrows the patterns of ``exclude`` and the questions, which lose the levels that
    it lacks, and drops the comparisons (``compare``, ``order``) of cells that it lacks. A question
    keeps its place if its grid has other levels there. A requirement loses the levels that the grid
    lacks and is refused without any. Texts that state a replaced number follow. ``scenario.*.KEY``
    and ``traffic.*.KEY`` set every table. ``recorded``: values of an earlier run, which may have
    keys that the grid overrides.

    Raises ``StudyError`` for a key that does not exist or a value that is invalid.
    """
    data = file.study.model_dump(mode="python", exclude_unset=True)
    values = _each_table(data, values)
    old = {}
    for key, value in values.items():
        _refuse_unplaced(data, key, file.path)
        old[key] = _put(data, key, value, file.path)
    for key in () if recorded else values:
        _refuse_overridden(data, key, file.path)
    _refresh_texts(data, old, values)
    grid = {
        axis: levels for axis, levels in data["grid"].items() if isinstance(levels, list | tuple)
    }
    if "exclude" not in values and data.get("exclude"):
        data["exclude"] = _narrowed(file.study, grid)
    if "question" not in values and data.get("question"):
        asked = zip(file.study.question, data["question"], strict=True)
        data["question"] = [
            _asked_in(one, table, grid) for one, table in asked if _is_in(one, grid)
        ]
    if "require" not in values and data.get("require"):
        data["require"] = [_asked_in(one, table, grid) for one, table in
                           zip(file.study.require, data["require"], strict=True)]  # fmt: skip
    if "compare" not in values and data.get("compare"):
        pairs = zip(file.study.compare, data["compare"], strict=True)
        data["compare"] = [table for entry, table in pairs if _has_cells(entry, grid)]
        read_by = {table.get("instrument") for table in data["compare"]}
        told = data.get("instrument", {})
        data["instrument"] = {name: told[name] for name in told if name in read_by}
    if "order" not in values and data.get("order"):
        orders = zip(file.study.order, data["order"], strict=True)
        data["order"] = [table for one, table in orders if _has_level(grid, "policy", one.policy)]
    check_values(data, file.path)
    try:
        study = Study.model_validate(data)
    except ValidationError as error:
        written = _as_text(error, values)
        if written:
            return with_values(file, {**values, **written}, recorded=recorded)
        raise StudyError(_first_mistake(error, file.path)) from error
    return StudyFile(_check_grid(study, file.path), file.path, file.text, file.sha256)


def _as_text(error: ValidationError, values: Mapping[str, Level]) -> dict[str, Level]:
    """Numbers among set values whose field is a text, as that text: ``tls=1.3``."""
    found: dict[str, Level] = {}
    for mistake in error.errors():
        key = _dotted(mistake["loc"])
        if key in values and _text_meant(mistake) is not None:
            found[key] = str(values[key])
    return found


def _text_meant(mistake: Mapping[str, Any]) -> str | None:
    """The text that a number was to be, where the field is a text and takes it."""
    value = mistake["input"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    is_text = mistake["type"] == "string_type"
    return str(value) if is_text or str(value) in _choices(mistake) else None


def _choices(mistake: Mapping[str, Any]) -> list[str]:
    """The texts that a field allows."""
    if mistake["type"] != "literal_error":
        return []
    return re.findall(r"'([^']*)'", mistake.get("ctx", {}).get("expected", ""))


def _refresh_texts(
    data: dict[str, Any], old: Mapping[str, Any], values: Mapping[str, Level]
) -> None:
    """Keep the study's texts true where a value replaces a number that they state.

    ``old``: the replaced values. A label with numbers becomes the table's name with the new value.
    Other labels get the new value where tables that had the same value differ now, or where another
    label gets it. Title and question that state an old number say the new value; other texts that
    do are dropped.
    """
    untold: dict[tuple[str, str], list[tuple[str, str]]] = {}
    needed = set()
    for key, before in old.items():
        kind, _, rest = key.partition(".")
        name, _, field = rest.partition(".")
        if kind not in ("scenario", "traffic", "grid") or field in _LENGTHS:
            continue
        own = data[kind].get(name) if kind != "grid" else None
        own = own if isinstance(own, dict) else {}
        label = own.get("label") or ""
        numbers = _numbers(before)
        # A pattern without numbers matches nothing.
        stated = re.compile(
            rf"(?<![\w.,])(?:{'|'.join(map(re.escape, numbers)) or '(?!)'})(?![.,]?\w)"
        )
        if kind != "grid" and field and f"{kind}.{name}.label" not in values:
            (now, *_) = (*_numbers(values[key]), "")
            if now and stated.search(label):
                own["label"] = stated.sub(now, label)
            else:
                untold.setdefault((kind, field), []).append((name, key))
                if any(map(str.isdigit, label)) or _differs(data, old, key):
                    needed.add((kind, field))
        for text in ("title", "question"):
            if f"study.{text}" not in values and stated.search(data["study"].get(text) or ""):
                data["study"][text] += f" ({_now(key, values)})"
        for table in (data["study"], own):
            if stated.search(table.get("about") or ""):
                del table["about"]
            kept = [one for one in table.get("leaves_out") or () if not stated.search(one)]
            if "leaves_out" in table:
                table["leaves_out"] = kept
    told: dict[tuple[str, str], list[str]] = {}
    for kind, field in (one for one in untold if one in needed):
        for name, key in untold[kind, field]:
            told.setdefault((kind, name), []).append(_now(key, values))
    for (kind, name), words in told.items():
        label, said = data[kind][name].get("label") or name, ", ".join(words)
        if any(map(str.isdigit, label)) or len(f"{label}, {said}") > _LABEL_LENGTH:
            label = name
        data[kind][name]["label"] = f"{label}, {said}"[:_LABEL_LENGTH]


def _differs(data: Mapping[str, Any], old: Mapping[str, Any], key: str) -> bool:
    """Whether a set key differs from that of another table of the grid that had the same value."""
    kind, name, field = key.split(".", 2)
    now = _value_at(data[kind][name], field)
    levels = data["grid"].get(kind)
    # Nothing has checked the grid yet.
    levels = levels if isinstance(levels, list | tuple) else list(data[kind])
    for other in levels:
        if not isinstance(other, str) or other == name or other not in data[kind]:
            continue
        there = _value_at(data[kind][other], field)
        if there != now and old.get(f"{kind}.{other}.{field}", there) == old[key]:
            return True
    return False


def _value_at(table: Any, field: str) -> Any:
    """The value of a dotted key below a table; None where it is not set."""
    for part in field.split("."):
        if isinstance(table, list | tuple):
            names = _names_of(table)
            at = names.index(part) if part in names else int(part) if part.isdigit() else len(table)
            table = table[at] if at < len(table) else None
        else:
            table = table.get(part) if isinstance(table, dict) else None
    return table


def _now(key: str, values: Mapping[str, Level]) -> str:
    """``clients 400``: the last word of a key and its value; of a table the word alone."""
    word = key.rpartition(".")[2]
    value = values[key]
    text = ", ".join(_numbers(value)) or ("" if isinstance(value, dict | list) else str(value))
    text = text.lower() if isinstance(value, bool) else text
    return f"{word} {text}".rstrip()


def _numbers(value: object) -> list[str]:
    """A value's numbers as texts write them."""
    every = value if isinstance(value, list | tuple) else [value]
    return [
        f"{one:g}" for one in every if isinstance(one, int | float) and not isinstance(one, bool)
    ]


def _narrowed(study: Study, grid: Mapping[str, Any]) -> list[dict[str, list[Level]]]:
    """The patterns of a study's ``exclude`` that hold for cells of another grid of its axes."""
    narrowed: list[dict[str, list[Level]]] = []
    keys = {key for pattern in study.exclude for key in pattern}
    there = {
        key: set(map(_level_of(key), grid.get(key) or study.grid.get(key, ()))) for key in keys
    }
    for pattern in study.exclude:
        kept: dict[str, list[Level]] = {}
        for key, levels in pattern.items():
            kept[key] = [level for level in levels if _level_of(key)(level) in there[key]]
        if all(kept.values()):
            narrowed.append(kept)
    return narrowed


def _has_cells(entry: Compare, grid: Mapping[str, Any]) -> bool:
    """Whether every selection of a comparison by policy or factor has a level in a grid."""
    return all(
        key not in grid
        or key in ("scenario", "traffic")
        or any(_selects(key, value, _level_of(key)(level)) for level in grid[key])
        for wanted in (entry.cells, entry.minus, entry.over)
        for key, value in wanted.items()
    )


def _is_in(question: Question, grid: Mapping[str, Any]) -> bool:
    """Whether a grid has what one has, and something that one could have."""
    if not all(_has_level(grid, axis, level) for axis, level in question.have.items()):
        return False
    return not question.to or any(_has_candidate(grid, table) for table in question.to)


def _asked_in(
    question: Question | Require, table: dict[str, Any], grid: Mapping[str, Any]
) -> dict[str, Any]:
    """A table of a question or requirement without the candidates and places that a grid lacks.

    A place of which the grid has no level is left out of a question: the answer holds for the
    levels there are. A requirement keeps it, and is refused.
    """
    is_question = isinstance(question, Question)
    found = dict(table)
    if question.to:
        there = [dict(one) for one in question.to if _has_candidate(grid, one)]
        found["to"] = there if there or is_question else [dict(one) for one in question.to]
    if question.where:
        found["where"] = {}
        for axis, levels in question.where.items():
            left = [level for level in levels if _has_level(grid, axis, level)]
            if left or not is_question:
                found["where"][axis] = left or list(levels)
    if not isinstance(question, Question):
        return found
    if question.along is not None and question.along not in grid:
        found.pop("along")
    return found


def _has_candidate(grid: Mapping[str, Any], table: Mapping[str, Level]) -> bool:
    return all(_has_level(grid, axis, level) for axis, level in table.items())


def _has_level(grid: Mapping[str, Any], axis: str, wanted: Level) -> bool:
    """Whether a grid has a level; a main axis that it does not name has all of them."""
    if axis not in grid:
        return axis in _AXES
    there = grid[axis]
    return any(_selects(axis, wanted, _level_of(axis)(one)) for one in there)


def _level_of(axis: str) -> Callable[[Level], Level]:
    """Levels of an axis as they are compared: a policy has several names."""

    def canonical(level: Level) -> Level:
        try:
            return resolve(str(level)).name
        except PolicyError:
            return level

    return canonical if axis == "policy" else lambda level: level


def _find(name: str) -> Path:
    path = Path(name)
    if path.suffix == ".toml" and path.is_file():
        return path
    known = shipped()
    # A folder with the name of a shipped study (such as an earlier run) does not hide the study.
    if name in known and not path.is_file():
        return known[name]
    if path.suffix == ".toml" or path.exists():
        if path.is_dir():
            raise StudyError(f"{path}: is a folder; name a study file")
        return path
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"shipped: {', '.join(known)}"
    raise StudyError(f"{name}: no such study file and no shipped study; {hint}")


def _first_mistake(error: ValidationError, path: Path) -> str:
    """One line for the first mistake, with the number of further ones."""
    errors = error.errors()
    first = errors[0]
    loc = [part for part in first["loc"] if part not in ("tuple", "function-after")]
    where = _dotted(loc)
    kind = first["type"]
    if kind == "extra_forbidden":
        allowed = _keys_at(loc[:-1])
        near = difflib.get_close_matches(str(loc[-1]), allowed, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        text = f"unknown key; {hint}allowed: {', '.join(sorted(allowed))}"
    elif kind == "missing":
        text = "is missing"
    else:
        value = first["input"]
        whole = isinstance(value, dict | BaseModel) or (isinstance(value, list | tuple) and value)
        message = _in_words_of_toml(first)
        own = shown(value)
        # Some messages name the value.
        repeats = isinstance(value, str) and own in message
        text = f"{'' if whole or repeats else own + ': '}{message[:1].lower() + message[1:]}"
        meant = _text_meant(first)
        if meant is not None:
            text += f'; write it as a text: "{meant}"'
        near = difflib.get_close_matches(str(value), _choices(first), 1)
        if near and meant is None:
            text += f"; did you mean {near[0]!r}?"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{path}: {where}: {text}{more}"


def _in_words_of_toml(mistake: Mapping[str, Any]) -> str:
    """The validator's message; it calls a list tuple, and a table dictionary or instance."""
    kind = mistake["type"]
    bounds = mistake.get("ctx", {})
    if kind in ("tuple_type", "list_type"):
        return "must be a list, as [...]"
    if kind in ("model_type", "model_attributes_type", "dict_type", "mapping_type"):
        return "must be a table, as { key = value }"
    if kind == "too_short":
        least = bounds["min_length"]
        return f"needs at least {least} entr{'y' if least == 1 else 'ies'}"
    if kind == "too_long":
        return f"has {bounds['actual_length']} entries, at most {bounds['max_length']} are allowed"
    message: str = mistake["msg"]
    return message.removeprefix("Value error, ").replace(" after validation", "")


def _dotted(loc: Sequence[Any]) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "file"


def _keys_at(loc: Sequence[Any]) -> list[str]:
    """Keys that the table at ``loc`` may have."""
    model: Any = Study
    inside_mapping = False
    for part in loc:
        if isinstance(part, int) or inside_mapping:
            inside_mapping = False
            continue
        if isinstance(model, type) and issubclass(model, BaseModel):
            field = _fields_of(model).get(str(part))
            inside_mapping = field is not None and get_origin(field.annotation) is dict
            model = _inner_model(field.annotation) if field else None
    if isinstance(model, type) and issubclass(model, BaseModel):
        return list(_fields_of(model))
    return []


def _fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a table by their keys in a file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _inner_model(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for arg in get_args(annotation):
        found = _inner_model(arg)
        if found is not None:
            return found
    return None


def _check_cards(study: Study, path: Path) -> None:
    """A card names policies of the grid. A narrower grid of the same study may have fewer."""
    policies = study.grid["policy"]
    for name, scenario in study.scenario.items():
        for at, policy in enumerate(scenario.card.no_aggregation):
            if policy not in policies:
                raise StudyError(
                    f"{path}: scenario.{name}.card.no_aggregation[{at}]: {policy!r} is not in "
                    f"grid.policy; there are: {', '.join(map(str, policies))}"
                )


def _check_grid(study: Study, path: Path) -> Study:
    """Canonical policies in the grid; every axis and factor exists."""
    grid = dict(study.grid)
    for axis, table in (("scenario", study.scenario), ("traffic", study.traffic)):
        levels = grid.get(axis) or tuple(table)
        for level in levels:
            if level not in table:
                raise StudyError(
                    f"{path}: grid.{axis}: {level!r} is not defined; defined: {', '.join(table)}"
                )
        grid[axis] = levels
    if not grid.get("policy"):
        raise StudyError(f"{path}: grid.policy: is missing; name at least one policy")
    for axis, levels in grid.items():
        if not levels:
            raise StudyError(f"{path}: grid.{axis}: is empty; name at least one level")
    cells = math.prod(len(levels) for levels in grid.values())
    if cells > MOST_CELLS:
        raise StudyError(
            f"{path}: grid: {cells} cells; a study has at most {MOST_CELLS}: name fewer levels"
        )
    try:
        policies = tuple(resolve(str(level)).name for level in grid["policy"])
    except PolicyError as error:
        raise StudyError(f"{path}: grid.policy: {error}") from error
    for axis, levels in (*grid.items(), ("policy", policies)):
        if len(set(levels)) != len(levels):
            raise StudyError(f"{path}: grid.{axis}: two levels are equal; levels must differ")
    if not study.study.against and study.study.baseline not in policies:
        raise StudyError(
            f"{path}: study.baseline: {study.study.baseline!r} is not in grid.policy "
            f"({', '.join(policies)}): add it there, or set study.baseline to one of them"
        )
    grid["policy"] = policies
    for key, levels in grid.items():
        if key in _AXES:
            continue
        _check_factor(study, key, levels, path)
    for group, names in study.study.combine.items():
        for name in names:
            if name not in study.traffic:
                raise StudyError(
                    f"{path}: study.combine.{group}: no traffic {name!r}; "
                    f"defined: {', '.join(study.traffic)}"
                )
    for index, pattern in enumerate(study.exclude):
        for key, levels in pattern.items():
            known = grid.get(key, ())
            if key == "policy":
                levels = tuple(resolve(str(level)).name for level in levels)
            if not set(levels) <= set(known):
                raise StudyError(
                    f"{path}: exclude[{index}].{key}: {', '.join(map(str, levels))} "
                    f"is not in grid.{key}: {', '.join(map(str, known)) or 'no such axis'}"
                )
    _check_against(study, grid, path)
    _check_questions(study, grid, path)
    _check_compared(study, grid, path)
    for key in study.as_printed:
        _locate(study.model_dump(mode="python"), key, path)
    return study.model_copy(update={"grid": grid})


def _check_against(study: Study, grid: Mapping[str, tuple[Level, ...]], path: Path) -> None:
    """The reference level is in the grid, and costs of policies are not asked for."""
    for key, level in study.study.against.items():
        place = f"{path}: study.against"
        if key == "policy":
            raise StudyError(f"{place}: policies are compared with study.baseline; name it there")
        if key not in grid:
            others = ", ".join(name for name in grid if name != "policy")
            raise StudyError(
                f"{place}: {key!r} is no axis or factor of the grid; there are: {others}"
            )
        if not any(type(one) is type(level) and one == level for one in grid[key]):
            raise StudyError(
                f"{place}.{key}: {shown(level)} is not in the grid; "
                f"there are: {', '.join(map(str, grid[key]))}"
            )
        if len(grid[key]) < 2:
            raise StudyError(f"{place}.{key}: has one level; nothing can be compared with it")
        head = study.study
        for name, there in (
            ("compare", study.compare),
            ("study.combine", head.combine),
            ("study.octet_theory", head.octet_theory),
        ):
            if there:
                raise StudyError(
                    f"{place}: {name} compares policies with study.baseline; leave one out"
                )
        if study.trials.pairing == "common":
            raise StudyError(
                f"{place}: pairs of trials (trials.pairing) have common random numbers under every "
                "policy, not at every level; leave one out"
            )


def _check_questions(study: Study, grid: Mapping[str, tuple[Level, ...]], path: Path) -> None:
    """Every level of a question or requirement is in the grid, and each candidate differs from
    what one has.
    """
    both: list[tuple[str, Question | Require]] = [
        *((f"{path}: question[{index}]", one) for index, one in enumerate(study.question)),
        *((f"{path}: require[{index}]", one) for index, one in enumerate(study.require)),
    ]
    for place, question in both:
        tables = [("from", {k: (v,) for k, v in question.have.items()}), ("where", question.where)]
        tables += [
            (f"to[{at}]", {k: (v,) for k, v in table.items()})
            for at, table in enumerate(question.to)
        ]
        for name, wanted in tables:
            for axis, levels in wanted.items():
                if axis not in grid:
                    raise StudyError(
                        f"{place}.{name}: {axis!r} is no axis or factor of the grid; "
                        f"there are: {', '.join(grid)}"
                    )
                for level in levels:
                    if not any(_selects(axis, level, one) for one in grid[axis]):
                        raise StudyError(
                            f"{place}.{name}.{axis}: {shown(level)} is not in the grid; "
                            f"there are: {', '.join(map(str, grid[axis]))}"
                        )
        for at, table in enumerate(question.to):
            if not table or all(question.have.get(axis) == one for axis, one in table.items()):
                raise StudyError(f"{place}.to[{at}]: changes nothing of `from`")
            for axis in table:
                if axis not in question.have and axis != "policy":
                    raise StudyError(f"{place}.from: name the level of {axis} that one has")
        if not isinstance(question, Question):
            continue
        if question.along is not None and question.along not in grid:
            raise StudyError(
                f"{place}.along: {question.along!r} is no factor of the grid; "
                f"there are: {', '.join(grid)}"
            )


def _check_compared(study: Study, grid: Mapping[str, tuple[Level, ...]], path: Path) -> None:
    """Every key of ``cells``, ``minus`` and ``over`` is an axis or a factor and selects cells."""
    levels: dict[str, list[Level]] = {key: list(values) for key, values in grid.items()}
    levels |= {"scenario": list(study.scenario), "traffic": list(study.traffic)}
    for index, order in enumerate(study.order):
        if not any(_selects("policy", order.policy, level) for level in levels["policy"]):
            raise StudyError(
                f"{path}: order[{index}].policy: {order.policy!r} is not in the grid; "
                f"there are: {', '.join(map(str, levels['policy']))}"
            )
    for index, entry in enumerate(study.compare):
        for table, wanted, parts in (
            ("cells", entry.cells, ("flow", "station")),
            ("minus", entry.minus, ()),
            ("over", entry.over, ()),
        ):
            for key, value in wanted.items():
                place = f"{path}: compare[{index}].{table}.{key}"
                if key in parts:
                    continue
                if key not in levels:
                    raise StudyError(
                        f"{place}: no axis or factor of the grid; allowed: "
                        f"{', '.join([*levels, *parts])}"
                    )
                if not any(_selects(key, value, level) for level in levels[key]):
                    raise StudyError(
                        f"{place}: {shown(value)} selects no cell; "
                        f"there are: {', '.join(map(str, levels[key]))}"
                    )


def _selects(key: str, wanted: Level, level: Level) -> bool:
    """Whether a level is the wanted one; axes take patterns of file names."""
    if key in _AXES:
        return fnmatchcase(str(level), str(wanted))
    return level == wanted or str(level) == str(wanted)


def _check_factor(study: Study, key: str, levels: tuple[Level, ...], path: Path) -> None:
    if key == "profile_set":
        for level in levels:
            if level not in study.profile_set:
                raise StudyError(
                    f"{path}: grid.profile_set: {level!r} is not defined; "
                    f"defined: {', '.join(study.profile_set) or 'none'}"
                )
        return
    table, _, field = key.partition(".")
    models: dict[str, type[BaseModel]] = {"scenario": Scenario, "traffic": Traffic}
    model = models.get(table)
    if model is None or not field:
        raise StudyError(
            f"{path}: grid.{key}: no such factor; allowed: scenario, policy, traffic, profile_set, "
            "'scenario.FIELD', 'traffic.FIELD'"
        )
    *outer, last = field.split(".")
    for part in outer:
        inner = model.model_fields[part].annotation if part in model.model_fields else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            last = part
            break
        model, table = inner, f"{table}.{part}"
    if last not in model.model_fields:
        near = difflib.get_close_matches(last, model.model_fields, 1)
        hint = f"did you mean {table}.{near[0]}? " if near else ""
        raise StudyError(
            f"{path}: grid.{key}: {table} has no {last!r}; {hint}"
            f"allowed: {', '.join(model.model_fields)}"
        )
    table = key.partition(".")[0]
    axis = study.grid.get(table) or tuple(getattr(study, table))
    for level in levels:
        for name in axis:
            base = getattr(study, table)[str(name)].model_dump(exclude_unset=True)
            try:
                models[table].model_validate(with_level(base, field, level))
            except ValidationError as error:
                message = error.errors()[0]["msg"].removeprefix("Value error, ")
                raise StudyError(
                    f"{path}: grid.{key}: {level!r} does not fit {table}.{name}: {message}"
                ) from error


def _locate(data: dict[str, Any], key: str, path: Path) -> tuple[dict[str, Any], str]:
    parts = key.split(".")
    place: Any = data
    for part in parts[:-1]:
        if not isinstance(place, dict) or part not in place:
            raise StudyError(f"{path}: as_printed.{key}: there is no {part!r}")
        place = place[part]
    return place, parts[-1]


def _each_table(data: Mapping[str, Any], values: Mapping[str, Level]) -> dict[str, Level]:
    """Values by key, with ``scenario.*`` and ``traffic.*`` written out for every table."""
    found: dict[str, Level] = {}
    for key, value in values.items():
        kind, _, rest = key.partition(".")
        if kind in ("scenario", "traffic") and rest.startswith("*."):
            for name in data.get(kind, {}):
                found[f"{kind}.{name}.{rest[2:]}"] = value
        else:
            found[key] = value
    return found


def _refuse_overridden(data: Mapping[str, Any], key: str, path: Path) -> None:
    """Refuse a key of one scenario or traffic that a factor of the grid replaces in every cell."""
    kind, _, rest = key.partition(".")
    field = rest.partition(".")[2]
    if kind not in ("scenario", "traffic") or not field:
        return
    for axis in data.get("grid", {}):
        if axis != kind and f"{kind}.{field}.".startswith(f"{axis}."):
            raise StudyError(
                f"{path}: {shown(key)}: has no effect; the grid varies it: grid.{axis}=[...]"
            )


def _refuse_unplaced(data: Mapping[str, Any], key: str, path: Path) -> None:
    """Refuse a key without its tables, and name the keys that end with it."""
    if key.partition(".")[0] in _fields_of(Study):
        return
    found: list[str] = []
    for kind, field in _fields_of(Study).items():
        model = _inner_model(field.annotation)
        if model is None:
            continue
        for whole in _keys_below(model):
            if not f".{whole}".endswith(f".{key}"):
                continue
            if f"{kind}.{whole}" in data.get("grid", {}):
                found.append(f"grid.{kind}.{whole}=[...]")
            elif kind in ("scenario", "traffic"):
                found += [f"{kind}.{name}.{whole}" for name in data.get(kind, {})]
            elif get_origin(field.annotation) is None:
                found.append(f"{kind}.{whole}")
    if found:
        more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        named = ", ".join(found[:_MOST_NAMED])
        raise StudyError(f"{path}: {shown(key)}: unknown key; keys that end with it: {named}{more}")


def _keys_below(model: type[BaseModel], depth: int = 3) -> Iterator[str]:
    """The dotted keys of a table and of the tables in it; those of lists need a name of a table."""
    for name, field in _fields_of(model).items():
        yield name
        inner = _inner_model(field.annotation)
        if inner is not None and depth and not _holds_several(field.annotation):
            yield from (f"{name}.{key}" for key in _keys_below(inner, depth - 1))


def _holds_several(annotation: Any) -> bool:
    """Whether a field is a list or a mapping of tables."""
    return get_origin(annotation) in (dict, list, tuple) or any(
        map(_holds_several, get_args(annotation))
    )


def _put(data: dict[str, Any], key: str, value: Level, path: Path) -> Any:
    """Set the value of a dotted key; the one that it replaces, None where there was none.

    A list of tables takes a name or a number from 0: ``stations.A.battery_wh``.
    """
    parts = key.split(".")
    if len(parts) > 2 and parts[0] in ("scenario", "traffic"):
        defined = data.get(parts[0], {})
        if parts[1] not in defined:
            cure = f"defined: {', '.join(defined)}"
            if key in data.get("grid", {}):
                cure = f"the grid varies it: grid.{key}=[...]"
            raise StudyError(
                f"{path}: {shown(key)}: there is no {parts[0]} {shown(parts[1])}; {cure}"
            )
    if parts[0] == "grid" and len(parts) > 1:
        # A factor of the grid is one key with dots, which a shell hands over without its quotes.
        parts = ["grid", key.partition(".")[2].replace('"', "")]
    place: Any = data
    for part in parts[:-1]:
        if isinstance(place, list | tuple):
            place = _of_list(place, part, key, path)
        else:
            place = place.setdefault(part, {})
        if not isinstance(place, dict | list | tuple):
            raise StudyError(f"{path}: {shown(key)}: {part!r} is no table")
    if not isinstance(place, dict):
        raise StudyError(f"{path}: {shown(key)}: {_named_table(place, parts)}")
    before = place.get(parts[-1])
    place[parts[-1]] = value
    return before


def _named_table(tables: Sequence[Any], parts: Sequence[str]) -> str:
    """The mistake of a key of a list of tables that names none of them, and its cure."""
    *place, wanted = parts
    names = _names_of(tables)
    if not names:
        return f"{place[-1]!r} is an empty list"
    if wanted in names or wanted.isdigit():
        return f"{place[-1]!r} is a list of tables; set a key of {shown(wanted)}"
    whole = ".".join([*place, names[0], wanted])
    return f"{place[-1]!r} is a list; name a table of it: {', '.join(names)} ({shown_line(whole)})"


def _names_of(tables: Sequence[Any]) -> list[str]:
    return [
        str(one.get("name", at)) if isinstance(one, dict) else str(at)
        for at, one in enumerate(tables)
    ]


def _of_list(tables: Sequence[Any], wanted: str, key: str, path: Path) -> Any:
    """The table of a list with a name, or at a place from 0."""
    names = _names_of(tables)
    if wanted in names:
        return tables[names.index(wanted)]
    if wanted.isdigit() and int(wanted) < len(tables):
        return tables[int(wanted)]
    raise StudyError(f"{path}: {shown(key)}: no {shown(wanted)}; there are {', '.join(names)}")
