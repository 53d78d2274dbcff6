"""The options of ``airtoll advise``: what one has, the needs, the limits, and a run.

Takes the words of a user; gives a situation and needs, or ``UsageError``. Never measures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from airtoll.advising import Situation, place_named, situation
from airtoll.analyse.advice import Needs, credentials_named, rules_named, service_named
from airtoll.cli.output import JsonOption
from airtoll.cli.places import named
from airtoll.errors import UsageError
from airtoll.policies import resolve
from airtoll.policies.standing import CREDENTIALS, RULE_SETS

#: Word of `--limit` -> the option that it stands for.
LIMITS = {
    "throughput": "--min-throughput",
    "overhead": "--max-overhead",
    "delay": "--max-delay",
    "negotiation": "--max-negotiation",
    "handover": "--max-handover",
}
#: The policy that one has where nothing but a device is named.
_USUAL = "wpa2-psk-ccmp"
#: Heading of the options that --from needs.
_FROM = "From what you have"
_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


@frozen(kw_only=True)
class FromOptions:
    """The network that one has: options of ``--from``, or of the usual network without it."""

    have: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="The policy you have, or a file: hostapd.conf, OpenWrt's wireless file, "
            "wpa_supplicant.conf, output of nmcli or iw, a capture.",
            rich_help_panel=_FROM,
        ),
    ] = None
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="One candidate: what the change to it brings, or why it cannot be had.",
            rich_help_panel=_FROM,
        ),
    ] = None
    place: Annotated[
        str | None,
        typer.Option(
            help="home, office (hand-overs, many joins), or sensor (a battery).",
            rich_help_panel=_FROM,
        ),
    ] = None
    ssid: Annotated[
        str | None,
        typer.Option(help="Network of the file: SSID or BSSID.", rich_help_panel=_FROM),
    ] = None
    phy: Annotated[
        str | None, typer.Option(help="802.11n, 802.11ac, 802.11ax, ...", rich_help_panel=_FROM)
    ] = None
    clients: Annotated[
        str | None,
        typer.Option(
            help="Laptops of an office; levels with commas: 100,400.",
            rich_help_panel=_FROM,
        ),
    ] = None
    access_points: Annotated[
        int | None,
        typer.Option(
            "--access-points",
            "--aps",
            min=1,
            help="Access points of an office, which share its laptops and its RADIUS server.",
            show_default="one for 50 laptops",
            rich_help_panel=_FROM,
        ),
    ] = None
    requests: Annotated[
        str | None,
        typer.Option(
            help="Requests/s that its RADIUS server answers; levels with commas: 50,150.",
            rich_help_panel=_FROM,
        ),
    ] = None
    chain: Annotated[
        str | None,
        typer.Option(
            help="Certificates of its RADIUS server: rsa2048, p256, ...",
            rich_help_panel=_FROM,
        ),
    ] = None
    multiplication_ms: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="SAE, OWE: ms of a multiplication of a point on the AP's CPU, as `airtoll doctor "
            "--radio --host ROUTER` measures it, or on that of a sensor.",
            show_default="that of --profile",
            rich_help_panel=_FROM,
        ),
    ] = None
    tls: Annotated[
        str | None,
        typer.Option(
            help="TLS in EAP: 1.2, 1.2-rsa or 1.3.",
            show_default="1.3 in an office, else 1.2",
            rich_help_panel=_FROM,
        ),
    ] = None
    battery: Annotated[
        str | None,
        typer.Option(
            help="Battery of a sensor: 2000mAh (3.7 V), 2000mAh@3.0V, 7.4Wh.",
            show_default="1000mAh@3.7V",
            rich_help_panel=_FROM,
        ),
    ] = None
    every: Annotated[
        str | None,
        typer.Option(
            help="Interval of a sensor's messages: 90s, 15m, 1h, 1d.",
            show_default="15m",
            rich_help_panel=_FROM,
        ),
    ] = None
    boot_ms: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Time from a sensor's wake-up to the first frame of its join, ms.",
            show_default="309",
            rich_help_panel=_FROM,
        ),
    ] = None
    boot_mj: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Energy of that time, mJ.",
            show_default="by the power of --profile",
            rich_help_panel=_FROM,
        ),
    ] = None
    tunnel_end: Annotated[
        str | None,
        typer.Option(
            help="Far end of a tunnel: router (the access point), or server (beyond it).",
            show_default="router at home, else server",
            rich_help_panel=_FROM,
        ),
    ] = None
    level: Annotated[
        float | None,
        typer.Option(
            help="Level of stations, dBm: -75; the MCS follows from it.",
            show_default="near the AP, or as in the file",
            rich_help_panel=_FROM,
        ),
    ] = None
    distance: Annotated[
        float | None,
        typer.Option(
            help="Their distance to the AP indoors, m, instead of --level.", rich_help_panel=_FROM
        ),
    ] = None
    neighbours: Annotated[
        str | None,
        typer.Option(
            help="Other networks on the channel: N or N@LEVEL (3@-70, dBm), or a file that lists "
            "them (iw scan, nmcli, a capture).",
            show_default="left out",
            rich_help_panel=_FROM,
        ),
    ] = None
    tls_resumption: Annotated[
        bool,
        typer.Option(
            "--tls-resumption",
            help="Stations and RADIUS server keep the TLS sessions of earlier joins.",
            rich_help_panel=_FROM,
        ),
    ] = False
    page_file: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=named("--out"),
            help="Write the answer as a page, too.",
            rich_help_panel=_FROM,
        ),
    ] = None

    @property
    def given(self) -> list[str]:
        """The options of a network that were given, without --from."""
        every = (
            ("--to", self.to), ("--place", self.place), ("--ssid", self.ssid), ("--phy", self.phy),
            ("--clients", self.clients), ("--access-points", self.access_points),
            ("--requests", self.requests), ("--chain", self.chain),
            ("--battery", self.battery), ("--every", self.every),
            ("--boot-ms", self.boot_ms), ("--boot-mj", self.boot_mj),
            ("--tunnel-end", self.tunnel_end), ("--level", self.level),
            ("--distance", self.distance), ("--tls-resumption", self.tls_resumption or None),
            ("--neighbours", self.neighbours),
            ("--tls", self.tls), ("--multiplication-ms", self.multiplication_ms),
            ("--out", self.page_file),
        )  # fmt: skip
        return [option for option, value in every if value is not None]


@frozen(kw_only=True)
class LimitOptions:
    """The limits of the needs."""

    min_throughput: Annotated[str | None, typer.Option(help="bit/s: 20M, 500k.")] = None
    max_overhead: Annotated[
        str | None,
        typer.Option(help="Share of throughput: 5%. With --from: against what you have."),
    ] = None
    max_delay: Annotated[str | None, typer.Option(help="One-way delay: 5ms. Not with --from.")] = (
        None
    )
    max_negotiation: Annotated[
        str | None, typer.Option(help="Time of a join: 300ms. With --from: of a home.")
    ] = None
    max_handover: Annotated[
        str | None,
        typer.Option(
            help="Gap at a hand-over: 50ms. With --from: time without a link, of an office."
        ),
    ] = None
    limit: Annotated[
        list[str] | None,
        typer.Option(help=f"One of the limits above as NAME=VALUE; repeat. {', '.join(LIMITS)}."),
    ] = None

    def by_option(self) -> dict[str, str | None]:
        """The limits by option, those of ``--limit`` included. Raises ``UsageError``."""
        limits = {option: getattr(self, option[2:].replace("-", "_")) for option in LIMITS.values()}
        for word in self.limit or []:
            name, equals, value = word.partition("=")
            option = LIMITS.get(name.strip())
            if option is None or not equals:
                raise UsageError(
                    f"--limit {word}: write NAME=VALUE, e.g. overhead=5%; names are "
                    f"{', '.join(LIMITS)}"
                )
            if limits[option] is not None:
                raise UsageError(f"--limit {word}: {name.strip()} has two limits; give one")
            limits[option] = value
        return limits


@frozen(kw_only=True)
class AdviseOptions:
    """Options of ``airtoll advise``."""

    start: FromOptions
    scenario: Annotated[
        str | None,
        typer.Option(help="Scenario of a shipped study (or STUDY/SCENARIO), or of the run."),
    ] = None
    need: Annotated[
        str, typer.Option(help="Services, comma between: confidentiality,mutual-auth,...")
    ] = ""
    limits: LimitOptions
    credential: Annotated[
        str, typer.Option("--credentials", help=f"Kinds, comma between: {', '.join(CREDENTIALS)}.")
    ] = ""
    dot1x: Annotated[
        bool | None,
        typer.Option(
            "--8021x/--no-8021x",
            help="Whether a RADIUS server is available; with --from, a home has none.",
            show_default="--8021x",
        ),
    ] = None
    pmf: Annotated[bool, typer.Option("--pmf", help="Management frames must be protected.")] = False
    band: Annotated[
        str | None, typer.Option(help="Band in GHz: 2.4, 5 or 6; 6 takes WPA3 and OWE alone.")
    ] = None
    rules: Annotated[
        str, typer.Option(help=f"Rule sets, comma between: {', '.join(RULE_SETS)}.")
    ] = ""
    margin: Annotated[str, typer.Option(help="Share of throughput below which policies tie.")] = (
        "1%"
    )
    run_folder: Annotated[
        Path | None,
        typer.Option(
            "--run", parser=named("--run"), help="A run (or imported readings) to decide on."
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            help="With --run or --scenario: KEY=VALUE[,VALUE...], places of these levels; repeat.",
        ),
    ] = None
    policy: Annotated[
        list[str] | None, typer.Option(help="Candidate; repeat. Default: today's choices.")
    ] = None
    profile: Annotated[
        str | None,
        typer.Option(
            help="Device profile for every station and the AP; with --from, of the AP (router), "
            "or of a battery-powered station (esp32-c3)."
        ),
    ] = None
    trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Trials per cell when it has to run. With --from: of everything that the answer "
            "measures, joins and hand-overs four at the least.",
            show_default="5; 3 to 48 by question with --from",
        ),
    ] = None
    on: Annotated[str, typer.Option(help="Testbed when it has to run.")] = "simulator"
    compared_with: Annotated[
        str | None, typer.Option("--against", help="Data set whose choices are compared with ours.")
    ] = None
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="With --from: tunnel, other choices and assumptions, too; with --against, --run "
            "and --scenario: every place and option.",
        ),
    ] = False
    json: JsonOption = False

    def __attrs_post_init__(self) -> None:
        if self.band not in (None, "2.4", "5", "6"):
            raise UsageError(f"--band {self.band}: allowed are 2.4, 5, 6")
        if self.have is None:
            for option in self.start.given:
                raise UsageError(
                    f"{option}: not with --scenario, --run or --against, which have a place of "
                    "their own; leave them out (--from POLICY says what you have)"
                )
            return
        place = "not with --from, which has a place of its own (--place)"
        for option, refused, why in (
            ("--scenario", self.scenario is not None, place),
            ("--run", self.run_folder is not None, place),
            ("--against", self.compared_with is not None, place),
            ("--where", self.where is not None, place),
            ("--on", self.on != "simulator",
             "places of --from are simulated; `airtoll advise --scenario NAME --on linux` is not"),
            ("--margin", self.margin != "1%",
             "with --from the strongest policy within --max-overhead wins; give that"),
        ):  # fmt: skip
            if refused:
                raise UsageError(f"{option}: {why}")
        if self.start.to is not None and self.policy:
            raise UsageError("--to: one candidate; --policy names several: leave one of them out")

    @property
    def have(self) -> str | None:
        """The policy or file that one has; the usual one where a device or place alone is named."""
        if self.start.have is not None or not (self.profile or self.start.given):
            return self.start.have
        others = (self.scenario, self.run_folder, self.compared_with)
        return _USUAL if all(one is None for one in others) else None

    @property
    def candidates(self) -> list[str]:
        """The canonical names of the policies of ``--policy``."""
        return [resolve(name).name for name in self.policy or []]

    def needs(self) -> Needs:
        """Needs and limits. Raises ``UsageError``."""
        limits = self.limits.by_option()
        return Needs(
            services=tuple(service_named(w) for w in _listed(self.need)),
            credentials=tuple(credentials_named(w) for w in _listed(self.credential)),
            dot1x=self.dot1x is not False,
            pmf=self.pmf,
            band_6ghz=self.band == "6",
            rules=tuple(rules_named(w) for w in _listed(self.rules)),
            baseline_allowed=any(resolve(name).is_baseline for name in self.policy or []),
            margin=_share(self.margin, "--margin") or 0.0,
            min_throughput_bps=_rate(limits["--min-throughput"]),
            max_overhead=_share(limits["--max-overhead"], "--max-overhead"),
            max_delay_s=_time(limits["--max-delay"], "--max-delay"),
            max_negotiation_s=_time(limits["--max-negotiation"], "--max-negotiation"),
            max_handover_s=_time(limits["--max-handover"], "--max-handover"),
        )

    def situations(self, have: str) -> tuple[Situation, ...]:
        """The situations of the network that one has, one for each level. Raises ``UsageError``."""
        clients = _levels(self.start.clients, "--clients", 1) or (None,)
        requests = _levels(self.start.requests, "--requests", 0.1) or (None,)
        return tuple(
            self._situation(have, None if many is None else round(many), rate)
            for many in clients
            for rate in requests
        )

    def _situation(self, have: str, clients: int | None, requests: float | None) -> Situation:
        start = self.start
        return situation(
            have,
            wanted=start.ssid,
            place=place_named(start.place),
            profile=self.profile,
            radius=self.dot1x,
            phy=start.phy,
            band=self.band,
            clients=clients,
            access_points=start.access_points,
            requests_per_s=requests,
            chain=start.chain,
            battery=start.battery,
            every=start.every,
            tunnel_end=start.tunnel_end,
            level_dbm=start.level,
            distance_m=start.distance,
            neighbours=start.neighbours,
            tls_resumption=start.tls_resumption,
            tls=start.tls,
            multiplication_ms=start.multiplication_ms,
            boot_ms=start.boot_ms,
            boot_mj=start.boot_mj,
            said=start.have is not None,
        )


def _levels(text: str | None, option: str, least: float) -> tuple[float, ...]:
    """The levels of ``50,150``, ascending."""
    if text is None:
        return ()
    found = []
    for word in text.split(","):
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        whole = option == "--clients"
        if not least <= value < math.inf or (whole and not value.is_integer()):
            kind = "whole numbers" if whole else "numbers"
            raise UsageError(
                f"{option} {text}: {kind} of at least {least:g}, with commas between levels"
            )
        found.append(value)
    return tuple(sorted(set(found)))


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _rate(text: str | None) -> float | None:
    if text is None:
        return None
    match = re.fullmatch(r"([0-9.]+)\s*([kMG]?)(?:bit/s|bps|b/s)?", text.strip())
    return _positive(match, _SCALES, "--min-throughput", text, "20M, 500k, 1.5G")


def _time(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    match = re.fullmatch(r"([0-9.]+)\s*(us|ms|s)", text.strip())
    return _positive(match, _TIMES, option, text, "50ms, 1.5s")


def _share(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    match = re.fullmatch(r"([0-9.]+)\s*(%?)", text.strip())
    return _positive(match, {"": 1.0, "%": 0.01}, option, text, "5%, 0.05")


def _positive(
    match: re.Match[str] | None, scales: Mapping[str, float], option: str, text: str, example: str
) -> float:
    try:
        if match is None:
            raise ValueError  # noqa: TRY301 - one message for both ways of being wrong
        return float(match.group(1)) * scales[match.group(2)]
    except ValueError:
        raise UsageError(f"{option} {text!r}: give a number with its unit: {example}") from None
