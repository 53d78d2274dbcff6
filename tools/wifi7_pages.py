"""Write the tables of the pages on Wi-Fi 7, transition modes, batteries, groups, tunnels and joins.

Runs the studies that a page names, with their default seed, and writes each table between its
markers. With --check it lists pages out of date; names of pages limit it to these. It changes no
word outside the markers.
"""

from __future__ import annotations

import math
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from airtoll.analyse import Estimate
from airtoll.policies import resolve
from airtoll.policies.transition import CLIENTS as AGES
from airtoll.policies.transition import choice
from airtoll.report.summary import RunSummary, summarise
from airtoll.run import run

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    ROOT / "docs/guides/should-i-turn-wpa3-on.md",
    ROOT / "docs/studies/staying-on-wpa2.md",
    ROOT / "docs/studies/wifi7.md",
    ROOT / "docs/studies/beacon-tax.md",
    ROOT / "docs/studies/transition-modes.md",
    ROOT / "docs/studies/roaming.md",
    ROOT / "docs/studies/always-on-vpn.md",
    ROOT / "docs/studies/esp32-battery.md",
    ROOT / "docs/studies/group-traffic.md",
    ROOT / "docs/studies/tunnel-mtu.md",
    ROOT / "docs/studies/joining-a-busy-cell.md",
)
_MARK = re.compile(r"<!-- table: ([a-z0-9-]+) -->\n.*?<!-- end of table -->\n", re.DOTALL)
WIFI7 = "wpa3-sae-ext-gcmp-256"
PLACES = {
    "ax-5ghz": "802.11ax, 5 GHz, 80 MHz",
    "be-24ghz": "802.11be, 2.4 GHz, 20 MHz",
    "be-5ghz": "802.11be, 5 GHz, 80 MHz",
    "be-6ghz": "802.11be, 6 GHz, 320 MHz",
    "be-two-links": "802.11be, 5 GHz, 80 MHz, and 6 GHz, 160 MHz",
    "be-one-radio": "the same with one radio (EMLSR)",
    "two-links-one-radio": "the same with one radio (EMLSR)",
    "two-links": "5 GHz, 80 MHz, and 6 GHz, 160 MHz",
    "channel-80": "5 GHz, 80 MHz",
    "channel-160": "5 GHz, 160 MHz",
    "channel-320": "6 GHz, 320 MHz",
    "b-beacons": "802.11b",
    "a-beacons": "802.11a",
    "ax-beacons": "802.11ax, 80 MHz",
    "one-beacon": "the same, Multiple BSSID",
}
PHYS = ("ax-5ghz", "be-24ghz", "be-5ghz", "be-6ghz", "be-two-links", "be-one-radio")
CLIENTS = (1, 10, 30)
SSIDS = (1, 2, 4, 8)


def percent(found: Estimate | None) -> str:
    """An overhead with its interval, in percent."""
    if found is None:
        return "-"
    if found.low is None or found.high is None or not math.isfinite(found.low):
        # All trials gave the same value.
        return f"{100 * found.value:.2f}"
    return f"{100 * found.value:.2f} ({100 * found.low:.2f} to {100 * found.high:.2f})"


def megabits(found: Estimate | None) -> str:
    """A throughput with its interval, in Mb/s."""
    if found is None:
        return "refused"
    if found.low is None or found.high is None or not math.isfinite(found.low):
        return f"{found.value / 1e6:.0f}"
    half = (found.high - found.low) / 2e6
    return f"{found.value / 1e6:.0f} ± {half:.0f}"


def clients(places: tuple[str, str, str], number: int) -> str:
    """The name of a cell."""
    scenario, policy, traffic = places
    return f"{scenario}/{policy}/{traffic}?scenario.clients={number}"


def cost(summary: RunSummary) -> list[str]:
    """Loss of throughput to each policy against WPA2-Personal, the PHY unchanged."""
    lines = [
        "| PHY | policy | 1 station, % | 10 stations, % | 30 stations, % |",
        "|---|---|---|---|---|",
    ]
    for scenario in PHYS:
        for policy in ("wpa3-sae-ccmp", WIFI7, "wpa3-eap-tls-gcmp-256"):
            cells = (clients((scenario, policy, "udp"), n) for n in CLIENTS)
            shown = " | ".join(percent(summary.analysis.overhead(cell)) for cell in cells)
            lines.append(f"| {PLACES[scenario]} | {policy} | {shown} |")
    return lines


def calls(summary: RunSummary) -> list[str]:
    """Mean delay of calls."""
    lines = ["| PHY | policy | 1 call, us | 10 calls, us | 30 calls, us |", "|---|---|---|---|---|"]
    for scenario in PHYS:
        for policy in ("open", "wpa2-psk-ccmp", WIFI7):
            found = [
                summary.analysis.estimate(clients((scenario, policy, "call"), n), "delay_s")
                for n in CLIENTS
            ]
            shown = " | ".join("-" if one is None else f"{1e6 * one.value:.0f}" for one in found)
            lines.append(f"| {PLACES[scenario]} | {policy} | {shown} |")
    return lines


def net(summary: RunSummary) -> list[str]:
    """Throughput of each policy as devices carry it out."""
    lines = [
        "| channel | policy | PHY of the devices | 1 station, Mb/s | 10 stations | 30 stations |",
        "|---|---|---|---|---|---|",
    ]
    several = ("two-links", "two-links-one-radio")
    for scenario in ("channel-80", "channel-160", "channel-320", *several):
        for policy in ("wpa2-psk-ccmp", "wpa2-wpa3-psk-transition", "wpa3-sae-ccmp", WIFI7):
            cells = [clients((scenario, policy, "udp"), n) for n in CLIENTS]
            found = [summary.analysis.estimate(cell, "throughput_bps") for cell in cells]
            phy = "802.11be" if policy == WIFI7 else "802.11ax"
            if found[0] is None:
                phy = "no association"
            elif scenario in several:
                phy += ", both links" if policy == WIFI7 else ", 5 GHz alone"
            shown = " | ".join(megabits(one) for one in found)
            lines.append(f"| {PLACES[scenario]} | {policy} | {phy} | {shown} |")
    return lines


def beacons(summary: RunSummary) -> list[str]:
    """Loss of throughput to the beacons of further SSIDs, against one SSID of the same policy."""
    head = " | ".join(f"{n} SSIDs, %" for n in SSIDS[1:])
    lines = [f"| beacons | policy | {head} |", "|---|---|---|---|---|"]
    for scenario in ("b-beacons", "a-beacons", "ax-beacons", "one-beacon"):
        for policy in ("open", "wpa2-psk-ccmp", "wpa3-eap-tls-gcmp-256"):
            found = [
                summary.analysis.estimate(
                    f"{scenario}/{policy}/udp?scenario.ssids={n}", "throughput_bps"
                )
                for n in SSIDS
            ]
            first, *more = (one.value if one else float("nan") for one in found)
            shown = " | ".join(f"{100 * (1 - one / first):.2f}" for one in more)
            lines.append(f"| {PLACES[scenario]} | {policy} | {shown} |")
    return lines


MODES = ("wpa2-wpa3-psk-transition", "wpa2-wpa3-psk-compatibility", "owe-transition")


def choices() -> list[str]:
    """The link that clients of each age choose, by the PHY of the access point."""
    head = " | ".join(age.title for age in AGES.values())
    lines = [f"| mode | access point | {head} |", "|---|---|" + "---|" * len(AGES)]
    for mode in MODES:
        for phy in ("802.11ax", "802.11be"):
            found = [choice(resolve(mode), phy, client) for client in AGES]
            shown = " | ".join(
                "no association" if one is None else f"{one.policy.name} ({one.place})"
                for one in found
            )
            lines.append(f"| {mode} | {phy} | {shown} |")
    return lines


def cost_of_choices(summary: RunSummary) -> list[str]:
    """Time to join and throughput of the link that a client chooses."""
    lines = [
        "| policy of the access point | client | join, ms | throughput, Mb/s |",
        "|---|---|---|---|",
    ]
    policies = ("wpa2-psk-ccmp", *MODES, "wpa3-sae-ccmp", WIFI7)
    for policy in policies:
        for client, age in AGES.items():
            cell = f"{client}-client/{policy}/udp"
            join = summary.analysis.estimate(cell, "negotiation_time_s")
            rate = summary.analysis.estimate(cell, "throughput_bps")
            if rate is None:
                shown = "no association"
            else:
                shown = "-" if join is None else f"{1e3 * join.value:.2f}"
            lines.append(f"| {policy} | {age.title} | {shown} | {megabits(rate)} |")
    return lines


DOZING = ("open", "wpa2-psk-ccmp", "wpa3-sae-ccmp")
INTERVALS = {
    "phone-1": ("phone", 1),
    "phone": ("phone", 3),
    "phone-10": ("phone", 10),
    "sensor": ("ESP32", 3),
}
#: Scenario -> the way in which a phone of 802.11ax dozes.
WAYS_TO_DOZE = {
    "phone-ax": "listen interval 10 (1.024 s)",
    "phone-ax-twt-1s": "target wake time, every 1.024 s",
    "phone-ax-twt-4s": "target wake time, every 4.096 s",
}
TUNNEL_MTUS = (1280, 1340, 1420, 1440)
PATHS = {
    "path-1500": "1500",
    "path-1492": "1492",
    "path-1400": "1400",
    "path-1400-clamped": "1400, MSS clamped",
}
TUNNELLED = (
    "wpa2-psk-ccmp",
    "wpa2-psk-ccmp+wireguard",
    "wpa2-psk-ccmp+ipsec-aes-gcm",
    "wpa2-psk-ccmp+openvpn",
)
KEEPALIVES = {
    "none": "none",
    "wireguard-120s": "WireGuard, every 120 s",
    "wireguard-25s": "WireGuard, every 25 s",
    "ipsec-20s": "IPsec (NAT), every 20 s",
    "tls-20s": "TLS, every 20 s",
    "wireguard-10s": "WireGuard, every 10 s",
}


def batteries(summary: RunSummary) -> list[str]:
    """Mean power and battery hours by keepalive and policy."""
    lines = [
        "| keepalive | policy | phone's Wi-Fi, mW | hours | ESP32, mW | hours |",
        "|---|---|---|---|---|---|",
    ]
    for traffic, title in KEEPALIVES.items():
        for policy in DOZING:
            shown = []
            for scenario in ("phone", "sensor"):
                cell = f"{scenario}/{policy}/{traffic}"
                power = summary.analysis.estimate(cell, "power_w")
                hours = summary.analysis.estimate(cell, "battery_h")
                shown.append("-" if power is None else f"{1e3 * power.value:.2f}")
                shown.append("-" if hours is None else f"{hours.value:.0f}")
            lines.append(f"| {title} | {policy} | {' | '.join(shown)} |")
    return lines


def waits(summary: RunSummary) -> list[str]:
    """Delay of a message to a dozing station, and the battery hours, by listen interval."""
    lines = [
        "| station | listen interval | policy | mean delay, ms | 95 % below, ms | hours |",
        "|---|---|---|---|---|---|",
    ]
    for scenario, (station, interval) in INTERVALS.items():
        for policy in DOZING:
            cell = f"{scenario}/{policy}/message"
            shown = []
            for metric, scale in (("delay_s", 1e3), ("delay_p95_s", 1e3), ("battery_h", 1.0)):
                found = summary.analysis.estimate(cell, metric)
                shown.append("-" if found is None else f"{scale * found.value:.0f}")
            lines.append(f"| {station} | {interval} | {policy} | {' | '.join(shown)} |")
    return lines


LIVES = {
    "quarter": "deep sleep, a join every 15 minutes",
    "kept": "deep sleep, a join every 15 minutes with a kept PMK",
    "resumed": "deep sleep, a join every 15 minutes with a resumed TLS session",
    "hourly": "deep sleep, a join every hour",
    "associated": "associated, every tenth beacon",
    "dtim": "associated, every DTIM (each third beacon)",
}


def days(summary: RunSummary) -> list[str]:
    """Energy of a join and of a day, and days of a battery, by way of life and policy."""
    lines = ["| sensor | policy | a join, mJ | a day, J | battery, days |", "|---|---|---|---|---|"]
    wanted = (("join_energy_j", 1e3, 1), ("day_energy_j", 1, 2), ("battery_days", 1, 0))
    measured = {cell.name for cell in summary.plan.cells}
    for scenario, title in LIVES.items():
        for policy in ("wpa2-psk-ccmp", "wpa3-sae-ccmp", "wpa2-eap-tls-ccmp"):
            if f"{scenario}/{policy}/message" not in measured:
                continue
            shown = []
            for metric, scale, digits in wanted:
                found = summary.analysis.estimate(f"{scenario}/{policy}/message", metric)
                shown.append("-" if found is None else f"{scale * found.value:.{digits}f}")
            lines.append(f"| {title} | {policy} | {' | '.join(shown)} |")
    return lines


def periods(summary: RunSummary) -> list[str]:
    """Delay of a message to a phone of 802.11ax, its power and hours, by its way to doze."""
    lines = [
        "| dozing | policy | mean delay, ms | 95 % below, ms | mW | hours |",
        "|---|---|---|---|---|---|",
    ]
    wanted = (
        ("delay_s", 1e3, 0),
        ("delay_p95_s", 1e3, 0),
        ("power_w", 1e3, 2),
        ("battery_h", 1, 0),
    )
    for scenario, title in WAYS_TO_DOZE.items():
        for policy in DOZING:
            cell = f"{scenario}/{policy}/message"
            shown = []
            for metric, scale, digits in wanted:
                found = summary.analysis.estimate(cell, metric)
                shown.append("-" if found is None else f"{scale * found.value:.{digits}f}")
            lines.append(f"| {title} | {policy} | {' | '.join(shown)} |")
    return lines


def tunnels(summary: RunSummary) -> list[str]:
    """Throughput by path, tunnel and MTU of its interface."""
    head = " | ".join(f"MTU {mtu}" for mtu in TUNNEL_MTUS)
    lines = [f"| path | policy | traffic | {head} |", "|---|---|---|" + "---|" * len(TUNNEL_MTUS)]
    for scenario, title in PATHS.items():
        for policy in TUNNELLED:
            for traffic in ("tcp", "tcp-probing", "udp"):
                shown = []
                for mtu in TUNNEL_MTUS:
                    cell = f"{scenario}/{policy}/{traffic}?scenario.tunnel_mtu_octets={mtu}"
                    rate = summary.analysis.estimate(cell, "throughput_bps")
                    value = 0.0 if rate is None else rate.value / 1e6
                    stalls = rate is not None and rate.value == 0
                    shown.append("-" if rate is None else "0: stalls" if stalls else f"{value:.1f}")
                name = policy.removeprefix("wpa2-psk-ccmp+")
                name = "no tunnel" if name == "wpa2-psk-ccmp" else name
                lines.append(f"| {title} | {name} | {traffic} | {' | '.join(shown)} |")
    return lines


WAYS = {
    "none": "no group-addressed messages",
    "shared": "one group key, 6 Mb/s",
    "faster": "one group key, 24 Mb/s",
    "unicast": "a key per client, copies",
    "isolated": "isolation, proxy ARP",
    "answer": "isolation, proxy ARP, a key per client, copies",
    "g-shared": "802.11g, one group key, 1 Mb/s",
    "g-unicast": "802.11g, a key per client, copies",
}
CELL_CLIENTS = (1, 30, 100)


def _so_many(number: int) -> str:
    """A number of clients in words."""
    return "1 client" if number == 1 else f"{number} clients"


def _of_ways(
    summary: RunSummary, traffic: str, metric: str, shown: Callable[[Estimate], str]
) -> dict[tuple[str, int], str]:
    """A metric of every way and number of clients, with WPA3."""
    found = {}
    for way in WAYS:
        for number in CELL_CLIENTS:
            cell = clients((way, "wpa3-sae-ccmp", traffic), number)
            estimate = summary.analysis.estimate(cell, metric)
            found[way, number] = "-" if estimate is None else shown(estimate)
    return found


def group_air(summary: RunSummary) -> list[str]:
    """Airtime share of group-addressed traffic, and the download that is left, by delivery."""
    head = " | ".join(f"air, {_so_many(n)}, %" for n in CELL_CLIENTS)
    rates = " | ".join(f"download, {_so_many(n)}, Mb/s" for n in CELL_CLIENTS)
    lines = [f"| delivery | {head} | {rates} |", "|---|" + "---|" * 2 * len(CELL_CLIENTS)]
    air = _of_ways(summary, "idle", "group_airtime_share", lambda one: f"{100 * one.value:.2f}")
    left = _of_ways(summary, "download", "throughput_bps", megabits)
    for way, title in WAYS.items():
        cells = [*(air[way, n] for n in CELL_CLIENTS), *(left[way, n] for n in CELL_CLIENTS)]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


def group_delays(summary: RunSummary) -> list[str]:
    """Delay of a call and of messages, messages that arrive, and power of an idle client."""
    powers = " | ".join(f"power, {_so_many(n)}, mW" for n in CELL_CLIENTS)
    lines = [
        f"| delivery | call's delay, us | messages that arrive, % | their delay, ms | {powers} |",
        "|---|---|---|---|" + "---|" * len(CELL_CLIENTS),
    ]
    call = _of_ways(summary, "call", "delay_s", lambda one: f"{1e6 * one.value:.0f}")
    arrive = _of_ways(
        summary, "idle", "group_delivered_ratio", lambda one: f"{100 * one.value:.1f}"
    )
    delay = _of_ways(summary, "idle", "group_delay_s", lambda one: f"{1e3 * one.value:.1f}")
    power = _of_ways(summary, "idle", "power_w", lambda one: f"{1e3 * one.value:.1f}")
    most = CELL_CLIENTS[-1]
    for way, title in WAYS.items():
        cells = [call[way, most], arrive[way, most], delay[way, most]]
        cells += [power[way, n] for n in CELL_CLIENTS]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


CELLS = {"edca": "802.11ax, EDCA", "dcf": "802.11a, DCF"}
JOINING = (
    "open",
    "wpa2-psk-ccmp",
    "wpa3-sae-ccmp",
    "wpa2-eap-peap-ccmp",
    "wpa3-eap-tls-ccmp",
)


def milliseconds(found: Estimate | None) -> str:
    """A time with its interval, in milliseconds."""
    if found is None:
        return "-"
    shown = f"{1e3 * found.value:.1f}"
    if found.low is None or found.high is None or not math.isfinite(found.low):
        return shown
    return f"{shown} ± {5e2 * (found.high - found.low):.1f}"


def joins(summary: RunSummary) -> list[str]:
    """Time of a join by cell, policy and load."""
    lines = [
        "| cell | policy | idle, ms | 4 calls, ms | 4 uploads, ms | 4 downloads, ms |",
        "|---|---|---|---|---|---|",
    ]
    for scenario, title in CELLS.items():
        for policy in JOINING:
            cells = (f"{scenario}/{policy}/{t}" for t in ("idle", "call", "upload", "download"))
            found = (summary.analysis.estimate(cell, "join_time_s") for cell in cells)
            lines.append(f"| {title} | {policy} | {' | '.join(map(milliseconds, found))} |")
    return lines


TOGETHER = (1, 4, 8)


def together(summary: RunSummary) -> list[str]:
    """Mean time until stations that roam at once can send again, by their number and the method."""
    head = " | ".join(f"{n}, 1 ms apart" for n in TOGETHER)
    lines = [
        f"| policy | method | {head} | {TOGETHER[-1]}, 30 ms apart |",
        "|---|---|" + "---|" * (len(TOGETHER) + 1),
    ]
    ways = [*((n, "0.001") for n in TOGETHER), (TOGETHER[-1], "0.03")]
    for policy in ("wpa3-ft-sae-ccmp", "wpa2-ft-eap-tls-ccmp"):
        for method in ("full", "fast-transition"):
            shown = []
            for number, stagger in ways:
                factors = f"scenario.handover.method={method};scenario.handover.stagger_s={stagger}"
                cell = f"group/{policy}/call?{factors};scenario.handover.stations={number}"
                shown.append(milliseconds(summary.analysis.estimate(cell, "handover_join_s")))
            lines.append(f"| {policy} | {method} | {' | '.join(shown)} |")
    return lines


#: Tables that no run gives.
STATED: Mapping[str, Callable[[], list[str]]] = {"choices-of-clients": choices}
TABLES: Mapping[str, tuple[str, Callable[[RunSummary], list[str]]]] = {
    "cost-of-choices": ("transition-modes", cost_of_choices),
    "battery-by-keepalive": ("always-on-vpn", batteries),
    "battery-of-a-sensor": ("esp32-battery", days),
    "groups-air": ("group-traffic", group_air),
    "groups-delay": ("group-traffic", group_delays),
    "delay-by-listen-interval": ("always-on-vpn", waits),
    "delay-by-target-wake-time": ("always-on-vpn", periods),
    "join-by-load": ("joining-a-busy-cell", joins),
    "roaming-together": ("roaming-together", together),
    "throughput-by-tunnel-mtu": ("tunnel-mtu", tunnels),
    "security-of-wifi7": ("wifi7", cost),
    "calls-of-wifi7": ("wifi7", calls),
    "net-of-wpa2": ("staying-on-wpa2", net),
    "beacons-by-policy": ("beacon-tax", beacons),
}


def written(text: str, summaries: dict[str, RunSummary]) -> str:
    """The page with its tables as the studies give them now; ``summaries`` keeps the runs."""

    def table(found: re.Match[str]) -> str:
        if found.group(1) in STATED:
            body = "\n".join(STATED[found.group(1)]())
            return f"<!-- table: {found.group(1)} -->\n{body}\n<!-- end of table -->\n"
        if found.group(1) not in TABLES:
            # A table of `tools/guides.py`.
            return found.group(0)
        study, make = TABLES[found.group(1)]
        if study not in summaries:
            with tempfile.TemporaryDirectory() as folder:
                summaries[study] = summarise(run(study, out=Path(folder) / study).path)
        body = "\n".join(make(summaries[study]))
        return f"<!-- table: {found.group(1)} -->\n{body}\n<!-- end of table -->\n"

    return _MARK.sub(table, text)


def main() -> int:
    """Write or check the pages."""
    summaries: dict[str, RunSummary] = {}
    stale = []
    named = [ROOT / name for name in sys.argv[1:] if not name.startswith("--")]
    for page in named or PAGES:
        old = page.read_text("utf-8")
        new = written(old, summaries)
        if new != old:
            stale.append(str(page.relative_to(ROOT)))
            if "--check" not in sys.argv:
                page.write_text(new, "utf-8")
    if "--check" in sys.argv and stale:
        sys.stderr.write(f"out of date: {', '.join(stale)}; run tools/wifi7_pages.py\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
