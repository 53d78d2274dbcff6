"""``lab.toml``: the hosts of a physical laboratory, their radios and their roles.

Takes a file; gives checked, frozen values. Never connects to a host:
``airtoll doctor --lab FILE`` and a run do.

    [lab]
    name = "bench"
    channel = 36

    [host.ap]
    role = "access-point"           # access-point | station | server | radius
    address = "root@192.168.1.1"    # or "local"
    interface = "wlan0"             # the radio; the wired interface of a server
    bridge = "br-lan"               # joins the radio to the wire
    monitor = "mon0"                # a monitor interface, for captures of the air
    ip = "192.168.1.1"

    [host.phone]
    role = "station"
    by = "hand"                     # airtoll cannot drive it: it prompts, step by step
    ip = "192.168.1.40"
"""

from __future__ import annotations

import ipaddress
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from airtoll.errors import UsageError

#: Names that reach configuration files, and a shell on other hosts.
_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
_ADDRESS = r"^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9:\[][A-Za-z0-9_.:%\[\]-]*$"

Role = Literal["access-point", "station", "server", "radius"]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LabHost(_Table):
    """One host. ``address``: "local", host, or user@host; ``port`` is that of its sshd."""

    role: Role
    address: str | None = Field(None, pattern=_ADDRESS)
    port: int = Field(22, ge=1, le=65535)
    interface: str | None = Field(None, max_length=15, pattern=_NAME)
    ip: str
    bridge: str | None = Field(None, max_length=15, pattern=_NAME)
    monitor: str | None = Field(None, max_length=15, pattern=_NAME)
    known_hosts: str | None = None
    identity: str | None = None
    by: Literal["airtoll", "hand"] = "airtoll"

    @property
    def ssh_options(self) -> dict[str, object]:
        """Options of asyncssh's connection to this host."""
        options: dict[str, object] = {"port": self.port}
        if self.identity:
            options["client_keys"] = [self.identity]
        if self.known_hosts:
            options["known_hosts"] = self.known_hosts
        return options

    @field_validator("ip")
    @classmethod
    def _is_address(cls, value: str) -> str:
        try:
            ipaddress.ip_address(value)
        except ValueError:
            raise ValueError("is no IP address") from None
        return value

    @model_validator(mode="after")
    def _drivable(self) -> LabHost:
        if self.by == "hand":
            if self.role != "station":
                raise ValueError("only a station can be driven by hand")
            return self
        if self.address is None:
            raise ValueError('needs an address ("local", or user@host)')
        if self.role in ("access-point", "station") and self.interface is None:
            raise ValueError("needs the interface of its radio")
        return self


class LabTable(_Table):
    """The [lab] table. ``channel``: the channel that access points use.

    ``hand_limit_s``: how long a step of a station that is driven by hand may take, seconds.
    """

    name: str = Field(min_length=1)
    channel: int = Field(1, ge=1, le=196)
    hand_limit_s: float = Field(300.0, gt=0)
    country: str | None = Field(None, pattern=r"^[A-Z]{2}$")


class Lab(_Table):
    """A laboratory: at least one access point, one station and one server."""

    lab: LabTable
    host: dict[Annotated[str, Field(pattern=_NAME, max_length=63)], LabHost]

    @model_validator(mode="after")
    def _complete(self) -> Lab:
        for role in ("access-point", "station", "server"):
            if not self.of(role):
                raise ValueError(f"no host has role {role!r}")
        return self

    def of(self, role: str) -> list[str]:
        """Names of the hosts with this role, in the order of the file."""
        return [name for name, host in self.host.items() if host.role == role]


def load(path: Path) -> Lab:
    """The laboratory of a file.

    Raises ``UsageError``, one line: file, key path, what is wrong.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: no valid TOML: {error}") from error
    try:
        return Lab.model_validate(data)
    except ValidationError as error:
        raise UsageError(f"{path}: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    mistakes = error.errors()
    mistake: Any = mistakes[0]
    where = ".".join(str(part) for part in mistake["loc"]) or "file"
    text = str(mistake["msg"]).removeprefix("Value error, ")
    more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
    return f"{where}: {text[:1].lower() + text[1:]}{more}"
