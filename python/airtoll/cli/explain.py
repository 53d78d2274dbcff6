"""``airtoll explain BEFORE AFTER``: which mechanism explains two measurements.

Takes files of tools, captures or numbers of both measurements, and the link; gives the mechanisms
ranked, with the figures that they would give, and the measurement that would decide.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from attrs import evolve, frozen

from airtoll.analyse.explain import (
    FACTORS,
    OF_AIRTIME,
    OF_FORM,
    RADIO,
    Deciding,
    Difference,
    Explained,
    Flow,
    Left,
    Quantity,
    Ranked,
    Ranking,
    Reading,
    Setting,
    Verdict,
    alone,
    deciding,
    differ,
    differences,
    left_of,
    rank,
    verdicts,
)
from airtoll.analyse.explain.symptoms import of_mechanism
from airtoll.analyse.quantities import show_value
from airtoll.cli.explain_dataset import explain_dataset, is_dataset
from airtoll.cli.explain_from import Stated, stated, without_pmf
from airtoll.cli.options import command
from airtoll.cli.output import JsonOption, emit_json, out
from airtoll.errors import PartlyRead, ProfileError, UsageError
from airtoll.profiles import load
from airtoll.run.explained_inputs import pair_of, readings_of, sides_of
from airtoll.run.explained_samples import SHARES, Inputs, Side
from airtoll.run.explaining import (
    AP,
    STATION,
    Link,
    guard_interval_ns,
    lacking,
    least_link,
    mcs_of,
    newest_phy,
    setting_of,
    single_settings,
    usual_streams,
)
from airtoll.run.neighbouring import neighbours_of
from airtoll.study.generations import GENERATIONS, phy_name

#: Lines of text are no longer than this in a pipe, too.
_WIDEST: Final = 100
#: Policies before and after where one alone is told.
_OPEN, _USUAL = "open", "wpa2-psk-ccmp"
#: Mechanisms with their evidence, and the least weight of the second and third of them.
_SHOWN, _WORTH = 3, 0.08
#: The least weight of those that are named in one line, and their number.
_NAMED, _MOST_NAMED = 0.02, 5
#: Causes that the first lines name.
_MOST_LIKELIEST: Final = 2
#: Readings of which those that are less likely have a figure; of more, the first alone.
_MOST_GIVEN: Final = 2
#: Readings of a mechanism's evidence.
_MOST_READINGS: Final = 4
#: Verdicts in the text.
_MOST_JUDGED: Final = 2
#: A throughput above this part of the air's is that of another link.
_MOST: Final = 1.1
#: Bits from which a reading is evidence.
_TELLING: Final = 0.7
#: Standard deviations from which a reading is against a mechanism.
_OFF: Final = 2.0
_WORDS: Final[Mapping[Quantity, str]] = {
    "throughput_bps": "",
    "loss_ratio": "loss, ",
    "delay_s": "delay, ",
    "retry_share": "retries, ",
    "busy_share": "air in use, ",
    "others_share": "airtime of other stations, ",
    "group_share": "airtime of group frames, ",
    "rate_bps": "rate of the link, ",
    "mpdus_per_frame": "MPDUs per frame, ",
    "reordered_share": "packet numbers out of order, ",
    "cpu_share": "busiest core, ",
    "again_bps": "the first policy again, ",
    "cable_bps": "over a cable, ",
    "width_mhz": "width of the link, ",
    "streams": "streams of the link, ",
    "guard_ns": "guard interval, ",
    "signal_dbm": "level of the link, ",
    "software_share": "cipher of the link, ",
}
_UNITS: Final[Mapping[Quantity, str]] = {
    "width_mhz": "MHz",
    "streams": "",
    "guard_ns": "ns",
    "signal_dbm": "dBm",
}
#: Whether a CPU ciphers -> words; the mechanism that this decides.
_ENGINES: Final = {False: "in hardware", True: "in software"}
_CIPHERS: Final = "software cipher"
_OF_THE_LINK: Final = (
    "software_share",
    "delay_s",
    "rate_bps",
    "retry_share",
    "mpdus_per_frame",
    "cpu_share",
    "signal_dbm",
    *OF_AIRTIME,
    *OF_FORM,
)


@frozen(kw_only=True)
class LinkOptions:
    """The settings of a link whose PHY is known."""

    width: Annotated[
        int | None,
        typer.Option(help="Channel width, MHz.", show_default="as in the file of --from, else 20"),
    ] = None
    mcs: Annotated[int | None, typer.Option(min=0, help="MCS; default: the highest.")] = None
    streams: Annotated[
        int | None,
        typer.Option(min=1, help="Spatial streams.", show_default="as of the profile, else 1"),
    ] = None
    guard: Annotated[int | None, typer.Option("--guard-interval", help="Guard interval, ns.")] = (
        None
    )
    rate: Annotated[
        float | None, typer.Option(help="Rate of 802.11a, b or g, Mb/s; default: the highest.")
    ] = None
    band: Annotated[
        str | None,
        typer.Option(
            help="Band: 2.4, 5 or 6; of a file with several networks, that one.",
            show_default="as in the file",
        ),
    ] = None
    ssid: Annotated[
        str | None, typer.Option(help="Network of the files of --from and --to: SSID or BSSID.")
    ] = None

    def link(
        self,
        stated_phy: str | None,
        policies: tuple[str, str],
        profiles: Mapping[str, str],
        networks: tuple[Stated, Stated],
    ) -> Link:
        """The link of two policies; what no option states is as in the files, or of the devices.

        ``stated_phy``: of an option. Raises ``UsageError`` for an option that would not act, or
        that a device lacks, and where nothing tells the PHY.
        """
        band = self.band or next((one.band for one in networks if one.band), None)
        phy, assumed = _phy(stated_phy, band, profiles, networks)
        link = Link(
            phy_name(phy),
            mcs=self.mcs,
            streams=self.streams or 1,
            guard_interval_ns=self.guard,
            rate_mbps=self.rate,
            band=band,
            before=policies[0],
            after=policies[1],
            profiles=profiles,
            assumed=assumed,
            pmf=(networks[0].pmf, networks[1].pmf),
        )
        self._check(link)
        if link.has_mcs:
            link = self._formed(
                link, next((one.width_mhz for one in networks if one.width_mhz), None)
            )
        if lack := lacking(link):
            raise UsageError(lack)
        return link

    def _formed(self, link: Link, of_file: int | None) -> Link:
        """The link with its width and streams, and words for those that nothing tells."""
        usable = [mhz for mhz in GENERATIONS[link.phy]["widths_mhz"] if mhz <= (of_file or 0)]
        width = self.width or max(usable, default=None)
        streams = self.streams or usual_streams(link)
        assumed = dict(link.assumed)
        if width is None:
            assumed["width"] = ""
        if streams is None:
            assumed["streams"] = ""
        return evolve(link, width_mhz=width or 20, streams=streams or 1, assumed=assumed)

    def _check(self, link: Link) -> None:
        """Refuse options of the link that would not act."""
        if link.phy not in GENERATIONS:
            raise UsageError(f"--phy {link.phy}: one of {', '.join(GENERATIONS)}")
        if link.has_mcs and self.rate is not None:
            raise UsageError(f"--rate {self.rate:g}: {link.phy} has an MCS; say --mcs")
        if not link.has_mcs:
            for option, value in (
                ("--mcs", self.mcs),
                ("--width", self.width),
                ("--streams", self.streams),
                ("--guard-interval", self.guard),
            ):
                if value is not None:
                    raise UsageError(f"{option} {value}: {link.phy} has none; say --rate")


@frozen(kw_only=True)
class ExplainOptions:
    """Options of ``airtoll explain``."""

    measurements: Annotated[
        list[str],
        typer.Argument(
            help="First and second measurement: each a file of iperf3, flent, irtt or CSV, a "
            "capture, a folder of them, files with commas, 'open-*.json', or a number (Mb/s); ? if "
            "there is none. Or both in one: a folder, or files, of two policies by their names, or "
            "the folder of an import. Or the name of a data set, and scenarios that the answer may "
            "see, with commas.",
            metavar="BEFORE AFTER",
        ),
    ]
    phy: Annotated[
        str | None,
        typer.Option(
            help="PHY of the link, e.g. 802.11ac; needed unless a file of --from or a profile "
            "tells it.",
            show_default="as in the file, else the newest of the profile",
        ),
    ] = None
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Policy of the first one, or a file of its network: hostapd.conf, OpenWrt's "
            "wireless file, wpa_supplicant.conf, output of nmcli or iw, a capture.",
            show_default="as the measurement is named after, else open where --to is said",
        ),
    ] = None
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="Policy of the second one, or a file.",
            show_default="as the measurement is named after, else wpa2-psk-ccmp after open",
        ),
    ] = None
    link: LinkOptions
    profile: Annotated[
        list[str] | None,
        typer.Option(help="Device profile of the access point, or station=PROFILE; repeat."),
    ] = None
    flow: Annotated[
        str,
        typer.Option(
            help="Kind of the two numbers: tcp-down, tcp-up, udp-down or udp-up, with "
            "octets=N, flows=N or mtu=N, or loss, delay, retries, rate, width, streams, guard, "
            "signal, mpdus, reordered, cpu, cipher."
        ),
    ] = "tcp-down"
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="A further pair, KIND=BEFORE:AFTER (tcp-up=480:130, delay=3ms:?), or "
            "BEFORE:AFTER of files; repeat."
        ),
    ] = None
    neighbours: Annotated[
        str | None,
        typer.Option(
            help="Other networks on the channel: N or N@LEVEL (3@-70, dBm), or a file that lists "
            "them (iw scan, nmcli, a capture).",
            show_default="unknown",
        ),
    ] = None
    client: Annotated[str, typer.Option(help="Where iperf3's client ran: station, or wired.")] = (
        "station"
    )
    key: Annotated[
        list[str] | None, typer.Option(help="Key of captures, as of airtoll capture; repeat.")
    ] = None
    keys: Annotated[list[Path] | None, typer.Option(help="File with one key a line; repeat.")] = (
        None
    )
    json: JsonOption = False


@command
def explain_command(options: ExplainOptions) -> None:
    """Rank mechanisms by how well each explains two measurements of a network."""
    if is_dataset(options.measurements[0]):
        before, *rest = options.measurements
        if options.phy or options.from_ or options.to or options.profile or options.also:
            raise UsageError(f"{before} is a data set, whose study states the link: no options")
        if len(rest) != 1:
            raise UsageError(f"{before} is a data set: name the scenarios to see, with commas")
        explain_dataset(before, rest[0], options.json)
        return
    # A file of --neighbours has the own network, too.
    ssid = None if _of_neighbours(options) else options.link.ssid
    networks = stated((options.from_, options.to), ssid, options.link.band)
    named = (networks[0].policy, networks[1].policy)
    profiles = _profiles(options.profile or ())
    if options.client not in ("station", "wired"):
        raise UsageError(f"--client {options.client}: station or wired")
    inputs = Inputs(
        options.client == "station",
        options.flow,
        tuple(options.key or ()),
        tuple(options.keys or ()),
    )
    pairs = [sides_of(options.measurements, inputs, named)]
    pairs += [pair_of(text, inputs) for text in options.also or ()]
    firsts, seconds = [one for one, _ in pairs], [one for _, one in pairs]
    policies, assumed = _policies(named, firsts, seconds)
    link = options.link.link(options.phy, policies, profiles, networks)
    readings, remarks = readings_of(firsts, seconds)
    link = _carrying(link, readings)
    if options.neighbours is not None:
        heard = neighbours_of(options.neighbours, options.link.ssid)
        link, remarks = evolve(link, neighbours=heard), [heard.told, *remarks]
    remarks = [*_told(networks, link), *remarks]
    setting = setting_of(link, [one.flow for one in readings])
    if setting.change.pmf_required:
        setting = evolve(setting, without_pmf=without_pmf(link.after, networks))
    _refuse_impossible(link, setting, readings)
    ranking = rank(setting, readings)
    found = deciding(setting, ranking, readings) if differ(readings) else None
    lost = list(dict.fromkeys(text for side in (*firsts, *seconds) for text in side.lost))
    if options.json:
        first = [assumed] if assumed else []
        emit_json(plain(setting, readings, ranking, found, [*first, *remarks, *lost]))
        _refuse_lost(lost)
        return
    console = out()
    width_ = min(console.width, _WIDEST)
    text = [*textwrap.wrap(assumed, width_, subsequent_indent="  ")]
    text += lines(link, setting, readings, ranking, found, remarks, width_)
    for line in text:
        console.print(line, soft_wrap=True)
    _refuse_lost(lost)


def _of_neighbours(options: ExplainOptions) -> bool:
    """Whether the network of --ssid is one of a file of --neighbours alone."""
    if options.neighbours is None:
        return False
    return not any(source and Path(source).is_file() for source in (options.from_, options.to))


def _phy(
    option: str | None,
    band: str | None,
    profiles: Mapping[str, str],
    networks: tuple[Stated, Stated],
) -> tuple[str, dict[str, str]]:
    """The PHY, and the reason where it is assumed. Raises ``UsageError`` where nothing tells it."""
    told = option or next((one.phy for one in networks if one.phy), None)
    if told is not None:
        return told, {}
    newest = newest_phy(profiles.values(), band)
    if newest is not None:
        of = " and ".join(load(name).name for name in profiles.values())
        return newest, {"phy": f"the newest of {of}"}
    silent = [one.name for one in networks if one.name] + list(profiles.values())
    verb = "does" if len(silent) == 1 else "do"
    why = f" ({' and '.join(silent)} {verb} not tell it)" if silent else ""
    raise UsageError(
        "say --phy, the PHY of the link, e.g. --phy 802.11ac (`iw dev wlan0 link` shows VHT-MCS "
        f"with 802.11ac, HE-MCS with 802.11ax){why}"
    )


def _carrying(link: Link, readings: Sequence[Reading]) -> Link:
    """The link, with the least width and streams that carry the readings where none is stated."""
    free = frozenset(link.assumed) & {"width", "streams"}
    measured = [
        (value, one.flow)
        for one in readings
        if one.quantity == "throughput_bps"
        for value in (one.before, one.after)
        if value is not None
    ]
    if not free or not measured or link.mcs is not None:
        return link
    most, flow = max(measured, key=lambda pair: pair[0])
    least = least_link(link, flow.alone, most, free)
    if least is None or (least.width_mhz, least.streams) == (link.width_mhz, link.streams):
        return link
    why = f"the least that carries {_shown(most, 'throughput_bps')}"
    return evolve(
        link,
        width_mhz=least.width_mhz,
        streams=least.streams,
        assumed={**link.assumed, **dict.fromkeys(free, why)},
    )


def _refuse_lost(lost: Sequence[str]) -> None:
    """End with the code of work that is done in part, where files could not be read."""
    if lost:
        raise PartlyRead("; ".join(lost))


def _told(networks: tuple[Stated, Stated], link: Link) -> list[str]:
    """The readings of files of networks, and where the second one has another width."""
    found = [text for one in networks for text in one.told]
    second = networks[1]
    if second.width_mhz and link.has_mcs:
        mhz = second.width_mhz
        if mhz != link.width_mhz:
            found.append(
                f"{second.name} has {mhz} MHz, and the link is taken to have {link.width_mhz} in "
                f"both: --also width={link.width_mhz}:{mhz} tells that it changed"
            )
    return found


def _policies(
    named: tuple[str | None, str | None], firsts: Sequence[Side], seconds: Sequence[Side]
) -> tuple[tuple[str, str], str]:
    """The policies, and a sentence for one that nothing states.

    ``named``: by the options. Raises ``UsageError`` where no policy is obvious.
    """
    before, after = (
        policy or _policy_of(option, sides)
        for option, policy, sides in zip(("--from", "--to"), named, (firsts, seconds), strict=True)
    )
    if before is not None and after is not None:
        return (before, after), ""
    if before is None and after is None:
        raise UsageError(
            "say --from and --to, the policies before and after, which no name of a file tells: "
            "--from wpa2 --to wpa3, or a file of the network (hostapd.conf, OpenWrt's "
            "/etc/config/wireless)"
        )
    if after is None and before == _OPEN:
        return (_OPEN, _USUAL), f"Assumed: {_USUAL} after (WPA2-Personal); say --to"
    if before is None and after is not None and after != _OPEN:
        return (_OPEN, after), "Assumed: open before, without security; say --from"
    missing, place = ("--to", "second") if after is None else ("--from", "first")
    raise UsageError(
        f"say {missing}, the policy of the {place} measurement, or a file of its network"
    )


def _policy_of(option: str, sides: Sequence[Side]) -> str | None:
    """The policy that the files of one measurement are named after."""
    told = {one.policy: one.name for one in sides if one.policy is not None}
    if len(told) > 1:
        raise UsageError(
            f"{' and '.join(f'{name} ({policy})' for policy, name in told.items())} are no one "
            f"measurement; say the policy with {option}"
        )
    return next(iter(told), None)


def _profiles(given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        place, equals, name = text.partition("=")
        if not equals:
            place, name = AP, text
        if place not in (AP, STATION):
            raise UsageError(f"--profile {text}: the place is ap or station")
        if place in found:
            raise UsageError(f"--profile {text}: the {place} has {found[place]} already")
        try:
            # A file is no name of a profile.
            found[place] = name if name.endswith(".toml") else load(name).name
        except ProfileError as error:
            raise UsageError(f"--profile {text}: {error}") from error
    return found


def _refuse_impossible(link: Link, setting: Setting, readings: Sequence[Reading]) -> None:
    """Refuse throughputs that the stated link cannot carry: no ranking holds for another link."""
    for one in readings:
        if one.quantity != "throughput_bps":
            continue
        air = setting.of(one.flow)
        for value, most in ((one.before, air.before), (one.after, air.after)):
            if value is not None and value > _MOST * most:
                raise UsageError(
                    f"{_link_words(link)} carries {_shown(most, 'throughput_bps')} of "
                    f"{one.flow.words} at most, and {_shown(value, 'throughput_bps')} were "
                    f"measured: {_cure(link, one.flow, value)}"
                )


def _cure(link: Link, flow: Flow, bps: float) -> str:
    """The options that say another link, and the least of them that carries a throughput."""
    if not link.has_mcs:
        return "say the PHY with --phy, and its rate with --rate"
    asked = "the station's `iw dev wlan0 link` tells the link"
    single = _single_words(link, flow, bps)
    if single:
        return f"{_assumed_first(link)}{single} would carry it ({asked})"
    options = "say the link with --width, --streams, --mcs and --guard-interval"
    least = least_link(link, flow.alone, bps)
    if least is None and link.profiles:
        devices = " and ".join(link.profiles.values())
        return f"{options} ({asked}); nothing that {devices} has carries it: look at --profile"
    if least is None:
        return (
            f"{options} ({asked}); no width of {link.phy} with up to four streams carries it: look "
            "at --phy"
        )
    return (
        f"{_assumed_first(link)}{options} ({asked}); the least that carries it is --width "
        f"{least.width_mhz} --streams {least.streams} --mcs {mcs_of(least)}"
    )


def _assumed_first(link: Link) -> str:
    """``a width of 20 MHz was assumed; ``: settings that nothing states."""
    if not link.assumed:
        return ""
    forms = {
        "phy": link.phy,
        "width": f"a width of {link.width_mhz} MHz",
        "streams": _streams_words(link),
    }
    named = [forms[one] for one in link.assumed]
    return f"{' and '.join(named)} {'were' if named[1:] else 'was'} assumed; "


def _single_words(link: Link, flow: Flow, bps: float) -> str:
    """``--guard-interval 400, --mcs 8 or --width 80``: options that each alone carry it."""
    found = [f"{name} {value}" for name, value in single_settings(link, flow.alone, bps).items()]
    return " or ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def _above(text: _Text, link: Link, setting: Setting, reading: Reading) -> None:
    """A throughput that is a little above the air's, and the setting that would carry it."""
    if reading.quantity != "throughput_bps":
        return
    air = setting.of(reading.flow)
    above = [
        (value, most)
        for value, most in ((reading.before, air.before), (reading.after, air.after))
        if value is not None and value > most
    ]
    if not above:
        return
    value, most = max(above)
    single = _single_words(link, reading.flow, value) if link.has_mcs else ""
    text.add(
        f"{_kind(reading)}: {_shown(value, 'throughput_bps')} are more than the "
        f"{_shown(most, 'throughput_bps')} that this air carries: "
        + (_assumed_first(link) or "the link is not as stated; ")
        + (f"{single} would carry it" if single else "look at the options of the link")
    )


def lines(
    link: Link,
    setting: Setting,
    readings: Sequence[Reading],
    ranking: Ranking,
    found: Deciding | None,
    remarks: Sequence[str],
    width: int,
) -> list[str]:
    """The answer as lines of at most ``width`` columns."""
    text = _Text(width)
    same = not differ(readings)
    judged = verdicts(setting, readings)
    _verdict(text, setting, readings, judged, same=same)
    if not same:
        _likeliest(text, ranking, judged)
    first_policy, second_policy = setting.policies
    both = f"{first_policy}, then {second_policy}"
    if first_policy == second_policy:
        both = f"{first_policy} both times, so that security changed nothing"
    text.add(f"{both}; {_link_words(link)}")
    for one in readings[:5]:
        text.add(f"{_kind(one)}: {_pair(one)}{_carries(setting, one)}", 2)
    if len(readings) > 5:
        text.add(f"and {len(readings) - 5} readings more (--json)", 2)
    for one in readings:
        _above(text, link, setting, one)
    for remark in remarks[:3]:
        text.add(remark)
    text.add("")
    first = ranking.ranked[0]
    if same:
        _compatible(text, readings, first)
        return text.lines
    if judged and all(one.says in ("alone", "limited") for one in judged):
        text.add("Causes that would give these readings, by weight, if you look further:")
    if not ranking.fits:
        text.add(_misfitting(ranking))
    shown = [
        one for at, one in enumerate(ranking.ranked[:_SHOWN]) if at == 0 or one.weight >= _WORTH
    ]
    left = left_of(setting, ranking)
    for at, ranked in enumerate(shown, 1):
        # Octets that leave a part unexplained need another remedy than none.
        _mechanism(
            text, setting, at, ranked, mends=left is None or ranked.mechanism.name != "octets"
        )
    rest = [one for one in ranking.ranked if one not in shown and one.weight >= _NAMED]
    named = rest[:_MOST_NAMED]
    if named:
        text.add(_less_likely(named))
    others = 1 - ranking.other - sum(one.weight for one in (*shown, *named))
    if others >= _NAMED:
        text.add(f"the others of the list together: {_percent(others)}")
    if ranking.other >= _NAMED:
        text.add(f"a cause that is not in the list: {_percent(ranking.other)}")
    if ranking.fits and len(ranking.alike) > 1:
        names = [one.mechanism.name for one in ranking.alike[:_MOST_NAMED]]
        text.add(f"these readings cannot tell apart: {', '.join(names)}")
    if left is not None:
        _left(text, left, first)
    _decides(text, found, ranking, setting.policies)
    return text.lines


def _verdict(
    text: _Text,
    setting: Setting,
    readings: Sequence[Reading],
    judged: Sequence[Verdict],
    *,
    same: bool,
) -> None:
    """The first lines of every answer: whether security costs more than its octets."""
    # Falls that security does not explain come first.
    ordered = sorted(judged, key=lambda one: one.says != "more")
    for one in ordered[:_MOST_JUDGED]:
        text.add(_judged(setting, one))
    if len(judged) > _MOST_JUDGED:
        text.add(f"and {len(judged) - _MOST_JUDGED} throughputs more (--json)")
    if not judged:
        text.add(
            "No throughput has a value on both sides: whether it fell by more than the octets of "
            "security cost is not known"
        )
    if not same:
        return
    found = differences(readings)
    said = [f"{_kind(one.reading)} {_change(one)}" for one in found]
    text.add(
        "The two do not differ beyond their spread "
        f"({'; '.join(said[:_MOST_READINGS])}): nothing to explain"
    )
    for single in map(alone, (one.reading for one in found)):
        if single.is_real:
            text.add(
                f"{_kind(single.reading)} alone would differ ({_change(single)}); among "
                f"{len(found)} comparisons a chance difference is likelier, so that their "
                "intervals are wider, to hold together with 95 %"
            )


def _judged(setting: Setting, one: Verdict) -> str:
    """``TCP up fell by 2.6 ± 2.4 %, and security's octets cost 1.4 %: more than they explain``."""
    half = 50 * (one.high - one.low)
    fell, expected = (round(100 * x, 1) + 0.0 for x in (one.measured, one.expected))
    measured = f"{abs(fell):.1f}" + (f" ± {half:.1f}" if half >= 0.05 else "")
    among = f" (95 % of all {one.family})" if one.family > 1 else ""
    air = _shown(setting.of(one.reading.flow).before, "throughput_bps")
    words = {
        "alone": "what security alone costs; nothing is slow",
        "undecided": "security alone may explain that, but in this spread a further fall of up to "
        f"{100 * (one.high - one.expected):.0f} % would not show"
        + (": it cannot tell a fall from none" if one.low <= 0 else ""),
        "limited": f"what security alone costs; both are far below the {air} of the air, which "
        "security does not explain",
        "more": "more than they explain",
        "less": "less than they cost; look whether both were measured as stated",
    }[one.says]
    verb = "fell" if fell >= 0 else "rose"
    return (
        f"{_kind(one.reading)} {verb} by {measured} %{among}, and security's octets cost "
        f"{expected:.1f} %: {words}"
    )


def _likeliest(text: _Text, ranking: Ranking, judged: Sequence[Verdict]) -> None:
    """The first causes in one line, where something is slow and the list has its cause."""
    if not ranking.fits or not any(one.says == "more" for one in judged):
        return
    named = [
        f"{one.mechanism.name} ({_percent(one.weight)})"
        for one in ranking.ranked[:_MOST_LIKELIEST]
        if one.weight >= _WORTH
    ]
    if named:
        text.add(f"Likeliest cause: {', then '.join(named)}")


def _change(one: Difference) -> str:
    """``-4.1 %, 95 % interval -9.0 to +1.1``; of a share in points."""
    factor = one.reading.quantity in FACTORS
    if one.reading.quantity == "signal_dbm":
        return f"{one.change:+.0f} dB, 95 % interval {one.low:+.0f} to {one.high:+.0f}"
    change, low, high = (
        100 * (math.expm1(x) if factor else x) for x in (one.change, one.low, one.high)
    )
    unit = "%" if factor else "points"
    return f"{change:+.1f} {unit}, 95 % interval {low:+.1f} to {high:+.1f}"


def _compatible(text: _Text, readings: Sequence[Reading], first: Ranked) -> None:
    """A common limit of both, and how to see smaller differences."""
    if first.mechanism.where == "both":
        say = first.mechanism.say(first.value)
        text.add(
            f"both may be limited by the same: {first.mechanism.name} "
            f"({_percent(first.weight)}): {first.mechanism.words}" + (f"; {say}" if say else "")
        )
    if all(math.isinf(one.freedom) for one in readings):
        text.add(
            "a single test is taken to spread by 5 %: give several files on each side to see a "
            "smaller difference"
        )


def _left(text: _Text, left: Left, first: Ranked) -> None:
    """How much of a fall the octets and the best mechanism explain, and how much is left."""
    said = [f"the security's octets explain {_mega(max(0.0, left.octets))}"]
    best = first.mechanism.name
    if best != "octets":
        said.append(f"{best} {_mega(max(0.0, left.best))}")
    unexplained = left.fell - max(0.0, left.octets, left.best)
    text.add(
        f"{_kind(left.reading)}: {' and '.join(said)} of the {_mega(left.fell)} Mb/s; "
        f"{_mega(unexplained)} Mb/s are unexplained"
    )


def _mega(bps: float) -> str:
    """A throughput in Mb/s, without the unit."""
    return f"{bps / 1e6:.3g}"


class _Text:
    """Lines that fit into a width."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[str] = []

    def add(self, line: str, indent: int = 0, hanging: int = 2) -> None:
        """A line, wrapped; the lines after its first are indented by ``hanging`` more."""
        self.lines += textwrap.wrap(
            line,
            self.width,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + hanging),
            break_on_hyphens=False,
        ) or [""]


def _mechanism(text: _Text, setting: Setting, at: int, ranked: Ranked, *, mends: bool) -> None:
    mechanism = ranked.mechanism
    say = mechanism.say(ranked.value)
    text.add(
        f"{at}. {mechanism.name} ({_percent(ranked.weight)}): {mechanism.words}"
        + (f"; {say}" if say else ""),
        hanging=3,
    )
    text.add(f"would give: {_given(ranked)}", 3)
    reasons = [ranked.prior.because] if ranked.prior.because else []
    told = sorted(ranked.readings, key=lambda one: -one.bits)
    reasons += [
        f"{_kind(one.reading)}, which is {_likelier(one.bits)} by it than by the others"
        for one in told
        if one.bits > _TELLING
    ][:_MOST_READINGS]
    if reasons:
        text.add(f"for: {'; '.join(reasons)}", 3)
    against = [
        f"{_kind(one.reading)} is {_off(one)} off"
        for one in ranked.readings
        if abs(one.deviations) > _OFF
    ]
    against += [
        f"{_kind(one.reading)}, which is {_likelier(-one.bits)} by the others"
        for one in reversed(told)
        if one.bits < -_TELLING and abs(one.deviations) <= _OFF
    ]
    if ranked.prior.against:
        against.insert(0, ranked.prior.against)
    if against:
        text.add(f"against: {'; '.join(against[:_MOST_READINGS])}", 3)
    if mends:
        text.add(f"do: {mechanism.mend(setting)}", 3)
    symptom = of_mechanism(mechanism.name)
    if symptom is not None:
        text.add(f"shown by: airtoll run {symptom.study}", 3)


def _given(ranked: Ranked) -> str:
    """The figures of a mechanism for the readings."""
    return "; ".join(
        f"{_kind(one.reading)} {_shown(one.predicted.value, one.reading.quantity)}"
        for one in ranked.readings[:_MOST_READINGS]
    )


def _less_likely(rest: Sequence[Ranked]) -> str:
    """Further mechanisms in one line, with their figures for the first readings."""
    most = _MOST_GIVEN if len(rest[0].readings) <= _MOST_GIVEN else 1
    kinds = [_kind(one.reading) for one in rest[0].readings[:most]]
    named = []
    for ranked in rest:
        given = [
            _shown(one.predicted.value, one.reading.quantity) for one in ranked.readings[:most]
        ]
        named.append(f"{ranked.mechanism.name} ({_percent(ranked.weight)}) {', '.join(given)}")
    return f"less likely, would give {' and '.join(kinds)}: {'; '.join(named)}"


def _misfitting(ranking: Ranking) -> str:
    """Why the first of the list does not fit, and which of the others would."""
    able = [one.mechanism.name for one in ranking.ranked if one.agrees][:_MOST_NAMED]
    if not able or ranking.ranked[0].agrees:
        return f"Nothing in the list gives all of these readings. {_misfit(ranking)}."
    return (
        f"The likeliest of the list does not give these readings, and those that do are less "
        f"likely: {', '.join(able)}. {_misfit(ranking)}."
    )


def _misfit(ranking: Ranking) -> str:
    """Why the first mechanism does not fit: a reading, the level before, or a likelier cause."""
    first = ranking.ranked[0]
    best = f"The first, {first.mechanism.name},"
    if first.agrees:
        return (
            f"{best} agrees with the readings, but a cause that is not in the list is likelier "
            f"({_percent(ranking.other)})"
        )
    outside = [one for one in first.readings if not one.is_within]
    if not first.level_agrees or not outside:
        return f"{best} does not explain the throughput of the first measurement"
    worst = max(outside, key=lambda one: abs(one.deviations))
    off = f"{_off(worst)} ({_kind(worst.reading)}: {_figures(worst)})"
    if len(first.readings) == 1:
        return f"{best} is off by {off}"
    return (
        f"{best} is off by {off}: a second cause may act beside it, or that reading is of another "
        "hour; measure it again"
    )


def _likelier(bits: float) -> str:
    """The ratio of two likelihoods in words."""
    ratio = 2.0 ** min(bits, 10.0)
    return f"{'over 1000' if bits >= 10 else format(ratio, '.2g')} times likelier"


def _decides(
    text: _Text, found: Deciding | None, ranking: Ranking, policies: tuple[str, str]
) -> None:
    if found is None:
        if len(ranking.alike) > 1:
            text.add("no measurement of the list would tell them apart")
        return
    at = "" if found.offered_bps is None else f" ({found.offered_bps / 1e6:.3g} Mb/s)"
    text.add("")
    text.add(f"Decides, in {found.option.minutes:g} min: {found.option.words}{at}")
    _where(text, found, policies)
    quantity = found.option.quantity
    leading = [one for one in ranking.ranked[:_SHOWN] if one.weight >= _WORTH]
    outcomes = [
        f"{one.mechanism} {_shown(one.value, quantity)}"
        + (
            ""
            if quantity in (*OF_FORM, "software_share")
            else f" ({_interval(one.low, one.high, quantity)})"
        )
        for one in found.outcomes[:4]
    ]
    text.add("; ".join(outcomes), 3)
    token = token_of(found)
    such = f", such as {token}=?:95%" if quantity in SHARES else ""
    such = f", such as {token}=?:hardware" if quantity == "software_share" else such
    text.add(f"then add --also {token}=BEFORE:AFTER (? where not measured){such}", 3)
    if found.option is not RADIO and any(one.mechanism.name == _CIPHERS for one in leading):
        text.add(
            f"Or, in {RADIO.minutes:g} min: {RADIO.words}. In software it is {_CIPHERS}, in "
            f"hardware at both ends it is not; then add --also {RADIO.token}=?:software, or "
            "hardware"
        )


def _where(text: _Text, found: Deciding, policies: tuple[str, str]) -> None:
    """Under which of the two policies the measurement is to be made, and the figures are."""
    first, second = (f"under {policy}" for policy in policies)
    if first == second:
        first, second = "as the first time", "as the second time"
    quantity, reading = found.option.quantity, found.reading
    if quantity == "cable_bps":
        return
    if quantity == "again_bps":
        text.add(f"measure it {first}, as AFTER; it would give:", 3)
        return
    if reading is None or reading.before is None or not reading.supposed:
        text.add(f"measure it {second}, which is enough; it would give there:", 3)
        return
    text.add(
        f"measure it {second}, which is enough, and better {first}, too; if it gives "
        f"{_shown(reading.before, quantity)} {first}, it would give {second}:",
        3,
    )


def token_of(found: Deciding) -> str:
    """The kind of the deciding measurement as the command line takes it."""
    token = found.option.token
    return token if found.offered_bps is None else f"{token},at={found.offered_bps / 1e6:.3g}"


def _kind(reading: Reading) -> str:
    words = _WORDS[reading.quantity]
    if reading.quantity in _OF_THE_LINK:
        return words.removesuffix(", ")
    return words + reading.flow.words


def _shown(value: float | None, quantity: Quantity) -> str:
    if value is None:
        return "?"
    if quantity.endswith("_bps"):
        return show_value(value, "bit/s", 3)
    if quantity == "delay_s":
        return show_value(value, "s", 2)
    if quantity == "mpdus_per_frame":
        return f"{value:.1f}"
    if quantity == "software_share":
        return _ENGINES[value > 0.5]
    if quantity in _UNITS:
        return f"{value:.0f} {_UNITS[quantity]}".rstrip()
    return _percent(value)


def _interval(low: float, high: float, quantity: Quantity) -> str:
    """``3.2 to 17 Mb/s``: the unit once where it is the same."""
    first, second = _shown(low, quantity), _shown(high, quantity)
    number, _, unit = first.partition(" ")
    return f"{number if second.endswith(f' {unit}') else first} to {second}"


def _pair(reading: Reading) -> str:
    before, after = (_shown(one, reading.quantity) for one in (reading.before, reading.after))
    change = ""
    if reading.before and reading.after is not None and reading.quantity.endswith("_bps"):
        change = f" ({100 * (reading.after / reading.before - 1):+.0f} %)"
    at = "" if reading.offered_bps is None else f" at {show_value(reading.offered_bps, 'bit/s', 3)}"
    return f"{before} to {after}{change}{at}"


def _carries(setting: Setting, reading: Reading) -> str:
    if reading.quantity != "throughput_bps":
        return ""
    air = setting.of(reading.flow)
    first, second = (_shown(one, "throughput_bps") for one in (air.before, air.after))
    return f"; the air carries {first}, then {second}"


def _off(one: Explained) -> str:
    """The distance of a reading from its prediction, in words."""
    assert one.reading.after is not None
    quantity, value = one.reading.quantity, one.predicted.value
    if quantity in SHARES:
        return f"{100 * abs(value - one.reading.after):.0f} points"
    if quantity == "signal_dbm":
        return f"{abs(value - one.reading.after):.0f} dB"
    if one.reading.after <= 0 or value <= 0:
        return "all of it"
    ratio = max(value / one.reading.after, one.reading.after / value)
    return f"{ratio:.1f} times" if ratio >= 2 else f"{100 * (ratio - 1):.0f} %"


def _figures(one: Explained) -> str:
    quantity = one.reading.quantity
    return f"{_shown(one.predicted.value, quantity)} against {_shown(one.reading.after, quantity)}"


def _percent(share: float) -> str:
    digits = 1 if 0 < share < 0.1 else 0
    return f"{100 * share:.{digits}f} %"


def _link_words(link: Link) -> str:
    words = [link.phy + _why(link, "phy")]
    if link.has_mcs:
        words.append(f"{link.width_mhz} MHz{_why(link, 'width')}")
        words.append(f"MCS {mcs_of(link)}" + (" (highest)" if link.mcs is None else ""))
        words.append(_streams_words(link) + _why(link, "streams"))
        assumed = " (assumed)" if link.guard_interval_ns is None else ""
        words.append(f"guard interval {guard_interval_ns(link)} ns{assumed}")
    elif link.rate_mbps is not None:
        words.append(f"{link.rate_mbps:g} Mb/s")
    words += [f"{place}: {name}" for place, name in link.profiles.items()]
    return ", ".join(words)


def _streams_words(link: Link) -> str:
    return f"{link.streams} stream{'s' if link.streams > 1 else ''}"


def _why(link: Link, setting: str) -> str:
    """`` (assumed: the newest of mt7621)``; empty for what is stated."""
    if setting not in link.assumed:
        return ""
    why = link.assumed[setting]
    return f" (assumed: {why})" if why else " (assumed)"


def plain(
    setting: Setting,
    readings: Sequence[Reading],
    ranking: Ranking,
    found: Deciding | None,
    remarks: Sequence[str],
) -> dict[str, Any]:
    """The answer as JSON values, in SI units."""
    return {
        "policies": list(setting.policies),
        "fits": ranking.fits,
        "differ": differ(readings),
        "verdicts": [
            {
                "kind": _kind(one.reading),
                "says": one.says,
                "expected": one.expected,
                "measured": one.measured,
                "low": one.low,
                "high": one.high,
                "readings_compared": one.family,
                "differs_alone": one.differed,
            }
            for one in verdicts(setting, readings)
        ],
        "other_weight": ranking.other,
        "readings": [
            {
                "kind": _kind(one),
                "quantity": one.quantity,
                "before": one.before,
                "after": one.after,
                "error": one.error,
                "spread": one.spread,
                "offered_bps": one.offered_bps,
            }
            for one in readings
        ],
        "mechanisms": [_plain_mechanism(setting, one) for one in ranking.ranked],
        "cannot_tell_apart": [one.mechanism.name for one in ranking.alike],
        "deciding": None
        if found is None
        else {
            "measurement": found.option.words,
            "minutes": found.option.minutes,
            "bits": found.bits,
            "offered_bps": found.offered_bps,
            "also": token_of(found),
            "before": found.reading.before if found.reading is not None else None,
            "outcomes": [
                {"mechanism": o.mechanism, "value": o.value, "low": o.low, "high": o.high}
                for o in found.outcomes
            ],
        },
        "remarks": list(remarks),
    }


def _plain_mechanism(setting: Setting, ranked: Ranked) -> dict[str, Any]:
    return {
        "name": ranked.mechanism.name,
        "words": ranked.mechanism.words,
        "weight": ranked.weight,
        "parameter": ranked.mechanism.say(ranked.value) or None,
        "reason": ranked.prior.because or None,
        "misfit": ranked.misfit,
        "against": ranked.prior.against or None,
        "remedy": ranked.mechanism.mend(setting),
        "readings": [
            {
                "kind": _kind(one.reading),
                "predicted": one.predicted.value,
                "measured": one.reading.after,
                "deviations": one.deviations,
                "bits": one.bits,
            }
            for one in ranked.readings
        ],
    }
