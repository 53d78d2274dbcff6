"""Errors of the command line's syntax as one line each.

Takes an error of typer's parser and the words that the user typed; gives the line: command, option
or argument with its value, what is allowed, and where to read on. Typer's own errors are boxes of
several lines, and repeat neither the value nor the meaning of a missing argument.
"""

from __future__ import annotations

import difflib
import re
from typing import Any, Final

import typer

#: The parser's base class of its errors. Typer exports one of its subclasses, and from some
#: versions on carries its own copy of click, so that `click` names another class.
ParserError: Final[type[Exception]] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)

_SURPLUS: Final = re.compile(r"unexpected extra argument\S* \((.*)\)")


def help_of(error: Any) -> str | None:
    """The help of a command that was given no words at all; ``None`` for every other error."""
    named = type(error).__name__ == "NoArgsIsHelpError"
    return str(error.format_message()) if named else None


def line(error: Any, words: list[str], command: str) -> str:
    """The error as one line. ``words`` are all arguments, ``command`` the command's full name."""
    text = _text(error, getattr(error, "ctx", None), words).rstrip(". ")
    printable = "".join(c if c.isprintable() else "?" for c in text)
    return f"airtoll: {printable}; see {command} --help"


def _text(error: Any, context: Any, words: list[str]) -> str:
    kind, param = type(error).__name__, getattr(error, "param", None)
    if kind == "MissingParameter" and param is not None:
        meaning = getattr(param, "help", None)
        return f"{_name(param)} is missing" + (f": {meaning}" if meaning else "")
    if param is not None:
        return f"{_name(param)} {_value(param, words)}".strip() + f": {_allowed(error, param)}"
    if kind == "NoSuchOption":
        close = sorted(error.possibilities or ())
        return f"{error.option_name}: no such option" + (
            f"; did you mean {' or '.join(close)}" if close else ""
        )
    if kind == "BadOptionUsage":
        needs = "requires" in error.message
        return f"{error.option_name}: {'its value is missing' if needs else 'takes no value'}"
    named = _commands(context)
    if named and "No such command" in error.message:
        return _no_command(str(error.message), named, words)
    surplus = _SURPLUS.search(error.message)
    if surplus is not None:
        return f"{surplus[1]}: more arguments than the command takes"
    return " ".join(error.format_message().split())


def _no_command(message: str, named: list[str], words: list[str]) -> str:
    given = next((word for word in words if repr(word) in message), "")
    close = difflib.get_close_matches(given, named, n=2)
    if close:
        return f"{given}: no such command; did you mean {' or '.join(close)}"
    return f"{given}: no such command; there are {', '.join(named)}"


def _commands(context: Any) -> list[str]:
    command = getattr(context, "command", None)
    return sorted(getattr(command, "commands", {}))


def _name(param: Any) -> str:
    """The option as it is typed, an argument in capitals."""
    if param.param_type_name == "argument":
        return str(param.name).upper()
    return str(max(param.opts, key=len))


def _value(param: Any, words: list[str]) -> str:
    """The last value that was typed for an option."""
    found = ""
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in param.opts:
            found = value if equals else "".join(words[place + 1 : place + 2])
        elif any(len(opt) == 2 and word.startswith(opt) for opt in param.opts):
            found = word[2:]
    return found


def _allowed(error: Any, param: Any) -> str:
    """Kind and range of a number, else the parser's own words."""
    kind = getattr(param, "type", None)
    least, most = (getattr(param, end, getattr(kind, end, None)) for end in ("min", "max"))
    text = " ".join(error.message.split())
    number = ""
    if "valid integer" in text:
        number = "an integer"
    elif "valid number" in text or "valid float" in text:
        number = "a number"
    if least is None and most is None:
        return f"allowed is {number}" if number else text
    if most is None:
        ends = f"{least} or more"
    else:
        ends = f"{most} or less" if least is None else f"{least} to {most}"
    return f"allowed is {number} of {ends}" if number else f"allowed is {ends}"
