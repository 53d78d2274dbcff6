"""The native module: simulator, closed forms, ciphers, captures (crate airtoll-python)."""

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import BinaryIO, TypedDict

from airtoll.border.answers import (
    AnalyticColumns,
    Columns,
    Comparison,
    Negotiated,
    PublishedMaximum,
)

__version__: str

class SimulationInterrupted(Exception): ...

class Cancel:
    def __init__(self) -> None: ...
    def set(self) -> None: ...

def check_scenario(scenario_json: str) -> str | None: ...
def weak_links(scenario_json: str) -> list[tuple[str, float, float]]: ...
def simulate(
    scenario_json: str,
    seeds: Sequence[int],
    cancel: Cancel | None = None,
    folders: Sequence[str] | None = None,
) -> Columns: ...

class SpacesRow(TypedDict):
    slot_us: float
    sifs_us: float
    cw_min: int
    signal_extension_us: float

class GenerationRow(TypedDict):
    name: str
    format: str
    bands: dict[str, SpacesRow]
    widths_mhz: list[int]
    guard_intervals_ns: list[int]
    rates_mbps: list[float]
    mandatory_rates_mbps: list[float]
    dsss: bool
    mcs_top: int | None
    streams: int | None
    ampdu_octets: int | None
    window: int | None
    shortest_preamble_us: float
    long_preamble_us: float
    symbol_us: float | None
    service_and_tail_bits: int | None

def phy_generations() -> list[GenerationRow]: ...
def check_analytic(scenario_json: str) -> str | None: ...
def analytic(scenario_json: str) -> AnalyticColumns: ...
def cipher_vectors() -> list[tuple[str, str, bool]]: ...
def cipher_engines() -> list[str]: ...
def cipher_subjects() -> list[tuple[str, str, list[str]]]: ...
def measure_cipher(
    name: str, mode: str, octets: Sequence[int], rounds: int, slice_us: int
) -> list[list[float]]: ...

class AkmRow(TypedDict):
    name: str
    selector: str
    suite_type: int
    policy_word: str
    generations: list[str]
    pairwise: str | None
    hash_octets: int | None
    authentication: str
    is_8021x: bool
    is_psk: bool
    is_sae: bool
    is_ft: bool
    is_192_bit: bool
    requires_pmf: bool
    requires_hash_to_element: bool
    has_forward_secrecy: bool
    caches_pmk: bool

class CipherRow(TypedDict):
    name: str
    selector: str | None
    wpa_selector: str | None
    mpdu_octets: int
    msdu_octets: int
    key_octets: int
    is_group_management: bool
    permits_high_throughput: bool

class EapRow(TypedDict):
    name: str
    number: int
    gives_keys: bool
    uses_tls: bool
    runs_tls13: bool
    uses_password: bool
    inner: str | None

class TunnelRow(TypedDict):
    name: str
    encryption: str
    integrity: str

def akm_suites() -> list[AkmRow]: ...
def cipher_suites() -> list[CipherRow]: ...
def eap_methods() -> list[EapRow]: ...
def tunnel_suites() -> list[TunnelRow]: ...
def published_maxima() -> list[PublishedMaximum]: ...
def negotiate(policy_json: str, seed: int, options_json: str = "{}") -> Negotiated: ...
def compare_message_counts(seed: int = 1) -> list[Comparison]: ...

class BadCapture(ValueError): ...

class CaptureOptions(TypedDict):
    """Options of a report on captures; times in Unix seconds, or after the first frame."""

    since_s: float | None
    until_s: float | None
    relative: bool
    owners: Sequence[tuple[IPv4Address | IPv6Address, str]]
    stations: Sequence[str]
    aps: Sequence[str]
    ssids: Sequence[str]
    slowest: bool
    most: int | None
    steps: bool

def capture_report(
    files: Sequence[str], keys: Sequence[str], key_logs: Sequence[str], options: CaptureOptions
) -> str: ...
def write_capture_report(
    sink: BinaryIO,
    files: Sequence[str],
    keys: Sequence[str],
    key_logs: Sequence[str],
    options: CaptureOptions,
) -> str: ...
def watch_capture(
    path: str, keys: Sequence[str], key_logs: Sequence[str], tell: Callable[[str], None]
) -> str: ...
def count_packets(octets: bytes) -> int: ...
def capture_frames(
    files: Sequence[str], keys: Sequence[str], key_logs: Sequence[str]
) -> list[tuple[int, float, str, bool, bool, bool, bytes | None]]: ...

_Sent = tuple[str, str, str, bytes]

class Handshake:
    def __init__(self, settings_json: str, parties: Sequence[str], seed: int) -> None: ...
    def start(self) -> list[_Sent]: ...
    def deliver(self, sender: str, receiver: str, carrier: str, octets: bytes) -> list[_Sent]: ...
    def time_out(self, party: str) -> list[_Sent]: ...
    def set_busy(self, party: str, busy: bool) -> None: ...
    def agreed(self, party: str) -> list[tuple[str, bytes]]: ...
    def status(self, party: str) -> tuple[str, str, list[tuple[str, bytes]]]: ...
    def code(self, party: str) -> tuple[str, int] | None: ...

def link_elements(link_json: str) -> bytes: ...
