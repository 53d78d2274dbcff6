"""``lab.toml``: the access point and the hosts of a physical laboratory, radios and roles.

Takes a file; gives checked, frozen values. Never connects to a host:
``airtoll check``, ``doctor`` and ``run`` with ``--lab FILE`` do.

    [lab]
    name = "bench"
    channel = [6, 36]               # one for each band

    [lab.ap]                        # an access point that airtoll cannot drive, in place of a
    by = "hand"                     # host with that role: a person sets it, or a command does
    ip = "192.168.1.1"              # (set = "./set-ap.sh" or "openwrt")

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

    [host.laptop]
    role = "station"
    link = "cable"                  # no radio: hosts, programs and tunnels before there is one
    address = "root@192.168.1.20"
    interface = "eth0"
    ip = "192.168.1.20"
"""

from __future__ import annotations

import ipaddress
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from airtoll.errors import PolicyError, UsageError
from airtoll.policies import resolve

#: Names that reach configuration files, and a shell on other hosts.
_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
_ADDRESS = r"^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9:\[][A-Za-z0-9_.:%\[\]-]*$"

Role = Literal["access-point", "station", "server", "radius"]
#: The driver of a host: airtoll with daemons of its own, a person, or a recipe (``recipes``).
By = Literal["airtoll", "hand", "android", "windows"]
#: The link of a station: a radio, or a cable that is there already.
LinkKind = Literal["radio", "cable"]
#: The shipped command that sets an access point with OpenWrt.
OPENWRT: Final = "openwrt"
#: Band (``2.4ghz``) -> channel where the lab file names none.
_CHANNELS: Final = {"2.4ghz": 1, "5ghz": 36, "6ghz": 37}
#: The number of the highest channel at 2.4 GHz (IEEE Std 802.11-2020, 15.4.4.3).
_LAST_OF_2_4: Final = 14


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _checked_ip(value: str) -> str:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        raise ValueError("is no IP address") from None
    return value


class LabHost(_Table):
    """One host. ``address``: "local", host, or user@host; ``port`` is that of its sshd.

    ``link``: of a station; a cable is not set up, and takes no access point. ``by``: who drives it;
    the address of an Android device is its serial (``adb devices``). ``iperf3``: its path on an
    Android or Windows device.
    """

    role: Role
    address: str | None = Field(None, pattern=_ADDRESS)
    port: int = Field(22, ge=1, le=65535)
    interface: str | None = Field(None, max_length=15, pattern=_NAME)
    ip: str
    bridge: str | None = Field(None, max_length=15, pattern=_NAME)
    monitor: str | None = Field(None, max_length=15, pattern=_NAME)
    known_hosts: str | None = None
    identity: str | None = None
    by: By = "airtoll"
    iperf3: str | None = Field(None, pattern=r"^[A-Za-z0-9_./:\\-]+$")
    link: LinkKind = "radio"

    @property
    def ssh_options(self) -> dict[str, object]:
        """Options of asyncssh's connection to this host."""
        options: dict[str, object] = {"port": self.port}
        if self.identity:
            options["client_keys"] = [self.identity]
        if self.known_hosts:
            options["known_hosts"] = self.known_hosts
        return options

    _is_address = field_validator("ip")(_checked_ip)

    @model_validator(mode="after")
    def _drivable(self) -> LabHost:
        if self.by != "airtoll" and self.role != "station":
            if self.role == "access-point":
                raise ValueError(
                    "an access point that airtoll does not drive is described in "
                    "[lab.ap], and not as a host"
                )
            raise ValueError(f'only a station can be by = "{self.by}"')
        if self.iperf3 is not None and self.by not in ("android", "windows"):
            raise ValueError("iperf3 is the path on an Android or Windows device")
        if self.link == "cable" and (self.role != "station" or self.by != "airtoll"):
            raise ValueError('link = "cable" is for a station that airtoll drives')
        if self.link == "cable" and self.monitor is not None:
            raise ValueError('link = "cable" and a monitor: there is no radio to listen to')
        if self.by == "hand":
            return self
        if self.by == "android" and self.address is None:
            raise ValueError("needs an address, the serial of `adb devices`")
        if self.address is None:
            raise ValueError('needs an address ("local", or user@host)')
        if self.by != "airtoll":
            return self
        if self.role in ("access-point", "station") and self.interface is None:
            kind = "cable" if self.link == "cable" else "radio"
            raise ValueError(f"needs the interface of its {kind}")
        return self


class LabAccessPoint(_Table):
    """An access point that airtoll does not drive.

    ``set``: the command that sets it; without one a person does. ``power``: a command that switches
    it off and on. ``address``: of its sshd, where ``set = "openwrt"``. ``lacks``: policies that it
    cannot do, and ``phys`` those PHYs that it can. ``accept``: fields in which its beacons may
    differ from what a study asks for. ``limit_s``: how long a person may take for it.
    """

    by: Literal["hand", "command"] = "hand"
    set: str | None = Field(None, min_length=1)
    power: str | None = Field(None, min_length=1)
    ip: str
    address: str | None = Field(None, pattern=_ADDRESS)
    port: int = Field(22, ge=1, le=65535)
    known_hosts: str | None = None
    identity: str | None = None
    bssid: str | None = Field(None, pattern=r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")
    ssid: str | None = Field(None, min_length=1, max_length=32)
    passphrase: str | None = Field(None, min_length=8, max_length=63, pattern=r"^[ -~]+$")
    lacks: tuple[str, ...] = ()
    phys: tuple[str, ...] | None = None
    accept: tuple[str, ...] = ()
    limit_s: float = Field(3600.0, gt=0)

    _is_address = field_validator("ip")(_checked_ip)

    @model_validator(mode="after")
    def _settable(self) -> LabAccessPoint:
        if self.by == "command" and self.set is None:
            raise ValueError('by = "command" needs set, the command')
        if self.set == OPENWRT and self.address is None:
            raise ValueError('set = "openwrt" needs the address of its sshd (root@192.168.1.1)')
        for name in self.lacks:
            try:
                resolve(name)
            except PolicyError as error:
                raise ValueError(f"lacks: {error}") from None
        return self

    @property
    def touched_by(self) -> Literal["hand", "command"]:
        """Whether a person or a command sets it."""
        return "hand" if self.set is None else "command"


class Busy(_Table):
    """Others on the channel. A trial that begins while they take more than ``limit`` of the time is
    repeated up to ``repeat`` times, and marked after that. ``look_s``: length of a look."""

    limit: float = Field(0.5, gt=0, le=1)
    repeat: int = Field(2, ge=0, le=100)
    look_s: float = Field(1.0, gt=0, le=60)


class Alert(_Table):
    """Receivers of trouble: ``url`` takes a POST with a text; ``mail`` is sent over ``smtp``."""

    url: str | None = Field(None, pattern=r"^https?://")
    mail: str | None = Field(None, pattern=r"^[^@\s]+@[^@\s]+$")
    smtp: str = Field("localhost:25", pattern=r"^[A-Za-z0-9_.-]+(:\d+)?$")
    sender: str = Field("airtoll@localhost", pattern=r"^[^@\s]+@[^@\s]+$")


class LabTable(_Table):
    """The [lab] table.

    ``channel``: the channel of the access points, or one for each band. ``channel_6ghz``: at 6 GHz,
    whose numbers begin anew. ``hand_limit_s``: how long a step of a station that is driven by hand
    may take, seconds. ``rounds``: how often the settings of the access point are gone through, each
    time with a part of the trials. ``patience_s``: how long a run waits for hosts that are not
    reached.
    """

    name: str = Field(min_length=1)
    channel: tuple[Annotated[int, Field(ge=1, le=196)], ...] = ()
    channel_6ghz: int = Field(_CHANNELS["6ghz"], ge=1, le=233)
    hand_limit_s: float = Field(300.0, gt=0)
    country: str | None = Field(None, pattern=r"^[A-Z]{2}$")
    rounds: int = Field(1, ge=1, le=1000)
    patience_s: float = Field(600.0, ge=0)
    ap: LabAccessPoint | None = None
    busy: Busy = Busy()
    alert: Alert = Alert()

    @field_validator("channel", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return (value,) if isinstance(value, int) else value

    def channel_of(self, band: str) -> int:
        """The channel of the access point in a band (``2.4ghz``, ``5ghz``, ``6ghz``)."""
        if band == "6ghz":
            return self.channel_6ghz
        named = self.names_channel_in(band)
        return named[0] if named else _CHANNELS[band]

    def names_channel_in(self, band: str) -> list[int]:
        """The named channels of a band, of 2.4 and 5 GHz."""
        low = band == "2.4ghz"
        return [channel for channel in self.channel if (channel <= _LAST_OF_2_4) == low]


class Lab(_Table):
    """A laboratory: at least one access point, one station and one server."""

    lab: LabTable
    host: dict[Annotated[str, Field(pattern=_NAME, max_length=63)], LabHost]

    @model_validator(mode="after")
    def _complete(self) -> Lab:
        for role in ("station", "server"):
            if not self.of(role):
                raise ValueError(f"no host has role {role!r}")
        links = {self.host[name].link for name in self.of("station")}
        if len(links) > 1:
            raise ValueError('link = "cable": all stations have one, or none of them')
        if self.wired and (self.lab.ap is not None or self.of("access-point")):
            raise ValueError('link = "cable": no access point takes part; leave it out')
        if not self.wired and self.lab.ap is None and not self.of("access-point"):
            raise ValueError("no host has role 'access-point', and there is no [lab.ap]")
        if self.lab.ap is not None and self.of("access-point"):
            raise ValueError("[lab.ap] and a host with role 'access-point': one of them alone")
        return self

    @property
    def wired(self) -> bool:
        """Whether cables take the place of the stations' radios."""
        return all(self.host[name].link == "cable" for name in self.of("station"))

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
