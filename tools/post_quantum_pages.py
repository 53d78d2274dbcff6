"""Write the tables on the page of post-quantum joins: tunnels, storms, hand-overs, devices.

Measures the planned trials of the studies that the page names, with seed 1, and writes each table
between its markers. With --check it fails where a table differs. It changes no word outside the
markers.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import evolve

from airtoll.plan import Cell, Plan, Trial, make_plan
from airtoll.profiles.load import load as load_profile
from airtoll.study import Scenario, Traffic, load
from airtoll.testbeds.contract import Measured
from airtoll.testbeds.simulator import Simulator

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/studies/post-quantum.md"
_MARK = re.compile(r"<!-- table: ([a-z0-9-]+) -->\n.*?<!-- end of table -->\n", re.DOTALL)
KEM_STEPS = ("keygen", "encapsulate", "decapsulate")
RTT_MS = (0, 20, 100)
CHAINS = ("p256", "ml-dsa-44+ml-dsa-44", "ml-dsa-44", "ml-dsa-87")


def plan_of(study: str) -> Plan:
    """The plan of a shipped study, with seed 1."""
    return make_plan(load(ROOT / f"studies/{study}.toml").study, seed=1)


def measured(plan: Plan, policy: str, wanted: dict[str, object]) -> list[Measured]:
    """The planned trials of the one cell with this policy and these factors."""
    (cell,) = (
        cell
        for cell in plan.cells
        if cell.policy == policy and wanted.items() <= dict(cell.factors).items()
    )
    return [Simulator().measure(trial) for trial in plan.trials() if trial.cell == cell]


def mean(trials: list[Measured], metric: str, station: str | None = "A") -> float | None:
    """The mean of a metric over trials; None where a trial has none."""
    found = [
        [row.value for row in trial.rows if row.metric == metric and row.station == station]
        for trial in trials
    ]
    if not all(found):
        return None
    return statistics.fmean(values[0] for values in found)


def factors(**wanted: object) -> dict[str, object]:
    """Names of factors of a scenario, in full."""
    return {f"scenario.{name.replace('__', '.')}": value for name, value in wanted.items()}


def seconds(value: float | None) -> str:
    """A time with three digits after the point, in seconds."""
    return "-" if value is None else f"{value:.3f}"


def tunnels() -> Iterator[str]:
    """Messages, octets and time of each tunnel."""
    plan = plan_of("post-quantum-tunnels")
    yield "| tunnel | also | messages | octets | on site, s | RTT 20 ms | RTT 100 ms |"
    yield "|---|---|---|---|---|---|---|"
    chains = ("none", "p256", "rsa2048", *CHAINS[1:3], "ml-dsa-65", "ml-dsa-87")
    rows: list[tuple[str, str, str, dict[str, object]]] = [
        (
            "IKEv2, " + ("pre-shared key" if chain == "none" else chain),
            "-" if kem == "none" else kem,
            "ipsec-aes-gcm",
            factors(join__ike_chain=chain, join__ike_additional=kem),
        )
        for chain in chains
        for kem in ("none", "mlkem768", "mlkem1024")
    ]
    rows += [
        ("WireGuard", "Rosenpass" if after else "-", "wireguard", factors(join__rosenpass=after))
        for after in (False, True)
    ]
    for name, also, policy, given in rows:
        trials = [
            measured(plan, policy, given | factors(wired__delay_us=rtt * 500)) for rtt in RTT_MS
        ]
        messages = mean(trials[0], "authentication_messages")
        octets = mean(trials[0], "authentication_octets")
        assert messages is not None
        assert octets is not None
        times = " | ".join(seconds(mean(of, "join_time_s")) for of in trials)
        yield f"| {name} | {also} | {messages:.0f} | {octets:,.0f} | {times} |"


def roaming() -> Iterator[str]:
    """Interruption of a call by each kind of hand-over."""
    plan = plan_of("post-quantum-roaming")
    yield "| hand-over | chain | on site, s | RTT 20 ms | RTT 100 ms |"
    yield "|---|---|---|---|---|"
    kinds = (
        ("full join", "wpa2-eap-tls-ccmp", "full", False),
        ("resumed TLS session", "wpa2-eap-tls-ccmp", "full", True),
        ("cached PMK", "wpa2-eap-tls-ccmp", "cached-pmk", False),
        ("fast BSS transition", "wpa2-ft-eap-tls-ccmp", "fast-transition", False),
    )
    for name, policy, method, resumed in kinds:
        given = factors(handover__method=method, join__tls_resumption=resumed)
        for chain in ("p256", "ml-dsa-44", "ml-dsa-87"):
            of_chain = given | factors(join__chain=chain)
            gaps = [
                mean(
                    measured(plan, policy, of_chain | factors(radius__delay_ms=rtt // 2)),
                    "handover_gap_s",
                    "phone",
                )
                for rtt in RTT_MS
            ]
            yield f"| {name} | {chain} | {' | '.join(map(seconds, gaps))} |"


def storm_row(plan: Plan, policy: str, chain: str, clients: int, resumed: bool) -> list[Measured]:
    """The trials of one storm."""
    given = factors(clients=clients, join__chain=chain, join__tls_resumption=resumed)
    return measured(plan, policy, given)


def waits(trials: list[Measured]) -> str:
    """Joined stations in percent, and the longest time that 95 % of these took to join, s."""
    times: list[float] = []
    joined = []
    for trial in trials:
        own = [row for row in trial.rows if row.metric == "join_time_s" and row.station is not None]
        times += [row.value for row in own]
        joined.append(mean([trial], "joined_ratio", None) or 0.0)
    times.sort()
    return f"{100 * statistics.fmean(joined):.1f} | {times[int(0.95 * len(times))]:.1f}"


def storm_of_50(plan: Plan, policy: str, chain: str) -> str:
    """Time until all of 50 clients are on, in full and resumed."""
    found = [
        mean(storm_row(plan, policy, chain, 50, resumed), "join_all_time_s", None)
        for resumed in (False, True)
    ]
    return " | ".join("-" if one is None else f"{one:.1f}" for one in found)


def storm() -> Iterator[str]:
    """Time until the clients of a cell are on again."""
    plan = plan_of("post-quantum-storm")
    yield (
        "| method | chain | 50 clients: all on after, s | resumed, s | 500 clients: joined, % "
        "| 95 % of these within, s | resumed: joined, % | 95 % within, s |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for name, policy in (("EAP-TLS", "wpa2-eap-tls-ccmp"), ("PEAP", "wpa2-eap-peap-ccmp")):
        for chain in CHAINS:
            large = " | ".join(
                waits(storm_row(plan, policy, chain, 500, resumed)) for resumed in (False, True)
            )
            yield f"| {name} | {chain} | {storm_of_50(plan, policy, chain)} | {large} |"


def weak() -> Iterator[str]:
    """Join time of a station that computes for free, and of a microcontroller."""
    plan = plan_of("post-quantum")
    yield "| chain | key exchange | computing takes no time, ms | Cortex-M4F, ms |"
    yield "|---|---|---|---|"
    rows = (
        ("p256", "secp256r1"),
        ("p256", "x25519mlkem768"),
        ("ml-dsa-44+ml-dsa-44", "x25519mlkem768"),
        ("ml-dsa-44", "x25519mlkem768"),
        ("ml-dsa-65", "x25519mlkem768"),
        ("ml-dsa-87", "x25519mlkem768"),
    )
    for chain, group in rows:
        given = factors(
            join__chain=chain, join__tls_group=group, radius__delay_ms=0, radius__loss_ratio=0
        )
        times = []
        for profile in (None, "cortex-m4f"):
            (cell,) = (
                cell
                for cell in plan.cells
                if cell.policy == "wpa2-eap-tls-ccmp"
                and given.items() <= dict(cell.factors).items()
            )
            stations = tuple(
                station.model_copy(update={"profile": profile})
                for station in cell.settings.stations
            )
            settings = cell.settings.model_copy(update={"stations": stations})
            trial = Trial(cell=evolve(cell, settings=settings), number=1, attempt=1, seed=1)
            found = mean([Simulator().measure(trial)], "join_time_s")
            assert found is not None
            times.append(f"{1e3 * found:.0f}")
        yield f"| {chain} | {group} | {' | '.join(times)} |"


def joined(policy: str, profile: str | None = None, **join: object) -> Measured:
    """A join of one station with this profile, without loss, and with the server on site."""
    station = {"name": "A"} | ({"profile": profile} if profile else {})
    settings = {"authenticate": True, "stations": [station], "phy": "802.11a"}
    load = {"transport": "udp", "offered_mbps": 1, "payload_bytes": 1000, "duration_s": 0.1}
    cell = Cell(
        scenario="s",
        policy=policy,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate(settings | ({"join": join} if join else {})),
        load=Traffic.model_validate(load),
    )
    return Simulator().measure(Trial(cell=cell, number=1, attempt=1, seed=1))


def counted(trial: Measured) -> str:
    """Messages and octets of a join, in two columns."""
    messages, octets = (mean([trial], f"authentication_{what}") for what in ("messages", "octets"))
    assert messages is not None
    assert octets is not None
    return f"{messages:.0f} | {octets:,.0f}"


def drafts() -> Iterator[str]:
    """Joins of personal and open networks, with and without ML-KEM."""
    yield "| policy | messages | octets | computing takes no time, ms | Cortex-M4F, ms |"
    yield "|---|---|---|---|---|"
    for policy in (
        "owe-gcmp-256",
        "owe-draft-mlkem768-gcmp-256",
        "wpa3-sae-ext-gcmp-256",
        "wpa3-sae-draft-mlkem768-gcmp-256",
    ):
        trials = [joined(policy, profile) for profile in (None, "cortex-m4f")]
        times = [mean([trial], "join_time_s") for trial in trials]
        shown = " | ".join("-" if time is None else f"{1e3 * time:.1f}" for time in times)
        yield f"| {policy} | {counted(trials[0])} | {shown} |"


def falcon() -> Iterator[str]:
    """Joins by EAP-TLS with chains of Falcon by size beside those of other algorithms."""
    yield "| chain | messages | octets | join time, ms |"
    yield "|---|---|---|---|"
    for chain in ("p256", "falcon-512-by-size", "falcon-1024-by-size", "ml-dsa-44", "ml-dsa-87"):
        trial = joined(
            "wpa2-eap-tls-ccmp",
            tls="1.3",
            tls_group="x25519mlkem768",
            chain=chain,
            eap_fragment_bytes=1024,
        )
        time = mean([trial], "join_time_s")
        assert time is not None
        yield f"| {chain} | {counted(trial)} | {1e3 * time:.0f} |"


DEVICES = ("apple-m1", "cortex-a72", "cortex-a53", "cortex-m4f", "esp32-c3")
OPERATIONS = (
    "rsa-2048-sign",
    "rsa-2048-verify",
    "x25519-scalar-mul",
    "p-256-scalar-mul",
    *(f"ml-kem-{size}-{step}" for size in (768, 1024) for step in KEM_STEPS),
    *(f"ecdsa-p-{bits}-{step}" for bits in (256, 384) for step in ("sign", "verify")),
    *(f"ml-dsa-{level}-{step}" for level in (44, 65, 87) for step in ("sign", "verify")),
    "slh-dsa-sha2-128s-sign",
    "slh-dsa-sha2-128s-verify",
    *(f"falcon-{degree}-{step}" for degree in (512, 1024) for step in ("sign", "verify")),
)


def devices() -> Iterator[str]:
    """Time of each operation on each device whose profile has a published cost."""
    profiles = [load_profile(name) for name in DEVICES]
    clocks = [f"`{p.name}` {p.clock_hz.value / 1e6:,.0f} MHz, ms" for p in profiles]
    yield f"| operation | {' | '.join(clocks)} |"
    yield "|---" * (len(profiles) + 1) + "|"
    for operation in OPERATIONS:
        times = [
            f"{milliseconds(1e3 * profile.seconds(profile.operation[operation]))}"
            if operation in profile.operation
            else "-"
            for profile in profiles
        ]
        yield f"| {operation} | {' | '.join(times)} |"


def milliseconds(value: float) -> str:
    """A time with three significant digits, without an exponent."""
    return f"{value:,.0f}" if value >= 1000 else f"{float(f'{value:.3g}')}".removesuffix(".0")


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "post-quantum-tunnels": tunnels,
    "post-quantum-roaming": roaming,
    "post-quantum-storm": storm,
    "post-quantum-stations": weak,
    "post-quantum-devices": devices,
    "post-quantum-drafts": drafts,
    "post-quantum-falcon": falcon,
}


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail where a table differs")
    arguments = parser.parse_args()
    text = PAGE.read_text("utf-8")

    def table(mark: re.Match[str]) -> str:
        lines = "\n".join(TABLES[mark[1]]())
        return f"<!-- table: {mark[1]} -->\n{lines}\n<!-- end of table -->\n"

    new = _MARK.sub(table, text)
    if new == text:
        return 0
    if arguments.check:
        print(f"{PAGE.relative_to(ROOT)} is out of date: make docs", file=sys.stderr)
        return 1
    PAGE.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
