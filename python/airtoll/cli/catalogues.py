"""``airtoll studies|policies|profiles|datasets|scenarios list|show``: the catalogues.

Takes names; gives tables or JSON. Never runs anything.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from attrs import asdict, frozen

from airtoll.cli.negotiations import (
    negotiate,
    over_links,
    print_messages,
    summary_rows,
    variant_rows,
    variants,
)
from airtoll.cli.options import command
from airtoll.cli.output import JsonOption, emit_json, out, table
from airtoll.cli.places import named
from airtoll.errors import UsageError
from airtoll.observe.datasets import list_datasets, load_dataset, show_dataset
from airtoll.plan import make_plan
from airtoll.policies import Policy, aliases, catalogue, resolve
from airtoll.policies.gates import why_not_at_6ghz, why_not_eht
from airtoll.policies.model import SERVICE_NAMES
from airtoll.profiles import load as load_profile
from airtoll.profiles import shipped as shipped_profiles
from airtoll.report.fitted import fitted_to
from airtoll.study import load as load_study
from airtoll.study import shipped as shipped_studies
from airtoll.testbeds.visible import COMMON, in_words, joining, networks

studies = typer.Typer(no_args_is_help=True, help="Shipped study files.")
policies = typer.Typer(no_args_is_help=True, help="The catalogue of security policies.")
profiles = typer.Typer(no_args_is_help=True, help="Device profiles, each number with its source.")
datasets = typer.Typer(no_args_is_help=True, help="Published readings.")
scenarios = typer.Typer(no_args_is_help=True, help="Scenarios of the shipped studies.")


@studies.command("list")
def studies_list(json: JsonOption = False) -> None:
    """List the shipped studies."""
    rows = []
    for name in shipped_studies():
        file = load_study(name)
        plan = make_plan(file.study)
        rows.append(
            {
                "name": name,
                "title": file.study.study.title,
                "page": file.study.study.page,
                "cells": len(plan.cells),
                "repetitions": plan.repetitions,
            }
        )
    if json:
        emit_json(rows)
        return
    # Cells as `airtoll check` counts them: those that a testbed skips included.
    columns = ["study", "cells", "repetitions", "title"]
    view = table(None, columns, right=columns[1:3])
    for row in rows:
        view.add_row(*(str(row[key]) for key in ("name", "cells", "repetitions", "title")))
    out().print(view)
    out().print("`airtoll check STUDY` says which cells a testbed skips, and how long a run takes.")


@studies.command("show")
def studies_show(
    study: Annotated[str, typer.Argument(help="Name or path of a study.")], json: JsonOption = False
) -> None:
    """Print a study file, or its checked values as JSON."""
    file = load_study(study)
    if json:
        emit_json(file.study.model_dump(mode="json"))
    else:
        out().print(file.text, markup=False, soft_wrap=True)


@policies.command("list")
def policies_list(json: JsonOption = False) -> None:
    """List the policies. More can be composed: see `airtoll policies show NAME`."""
    if json:
        emit_json([_policy_row(policy) for policy in catalogue()])
        return
    view = table(
        None, ["policy", "octets/frame", "services", "broken", "weak"], right=["octets/frame"]
    )
    for policy in catalogue():
        octets = policy.octets_per_mpdu + policy.octets_per_msdu
        view.add_row(
            policy.name,
            str(octets),
            ", ".join(policy.services.names()) or "none",
            "yes" if policy.broken else "",
            "yes" if policy.weaknesses else "",
        )
    out().print(view)
    out().print(
        "More are composed of the same parts, such as wpa3-ft-eap-tls-ccmp or "
        "wpa2-psk-ccmp+openvpn: `airtoll policies show NAME` reads any."
    )


@frozen(kw_only=True)
class PolicyOptions:
    """Options of ``airtoll policies show``."""

    name: Annotated[str, typer.Argument(help="Policy or alias, e.g. P-9 or wpa3-sae-ccmp.")]
    messages: Annotated[
        bool, typer.Option("--messages", help="List every message of its handshakes.")
    ] = False
    links: Annotated[
        int, typer.Option(help="Links of the association, 1 to 15: multi-link from 2 on.")
    ] = 1
    hostapd: Annotated[
        bool, typer.Option("--hostapd", help="Print a hostapd.conf of it, to fill in, and no more.")
    ] = False
    supplicant: Annotated[
        bool, typer.Option("--wpa-supplicant", help="The same for wpa_supplicant.conf.")
    ] = False
    openwrt: Annotated[
        bool, typer.Option("--openwrt", help="The same for OpenWrt's /etc/config/wireless.")
    ] = False
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            parser=named("--from"),
            help="A file of one of these: print it with the lines that the policy needs changed.",
        ),
    ] = None
    ssid: Annotated[
        str | None, typer.Option(help="With --from: the network to change, if there are several.")
    ] = None
    band: Annotated[
        str | None,
        typer.Option(
            help="With --from: 2.4, 5 or 6, the only radios to change; 6 takes WPA3 and OWE alone."
        ),
    ] = None
    second: Annotated[
        str | None,
        typer.Option(
            "--second-ssid",
            help="With one of these, or --from: a second SSID for older devices, of this policy.",
        ),
    ] = None
    profile: Annotated[
        str | None, typer.Option(help="With --openwrt: the router, whose radio is written.")
    ] = None
    tls: Annotated[
        str | None,
        typer.Option(help="With --wpa-supplicant: the newest TLS in EAP, 1.2 or 1.3."),
    ] = None
    json: JsonOption = False

    @property
    def programs(self) -> list[str]:
        """The programs whose settings are asked for."""
        asked = {
            "hostapd": self.hostapd,
            "wpa-supplicant": self.supplicant,
            "openwrt": self.openwrt,
        }
        return [program for program, wanted in asked.items() if wanted]


@policies.command("show")
@command
def policies_show(options: PolicyOptions) -> None:
    """Show what a policy is made of, costs in octets, negotiates, offers, and what is broken."""
    policy = resolve(options.name)
    if options.ssid is not None and options.source is None:
        raise UsageError("--ssid: needs --from, the file with the networks")
    if options.band is not None and options.source is None:
        raise UsageError("--band: needs --from, the file with the radios")
    if options.band not in (None, "2.4", "5", "6"):
        raise UsageError(f"--band {options.band}: allowed are 2.4, 5, 6")
    if options.profile is not None and (options.source is not None or not options.openwrt):
        raise UsageError("--profile: needs --openwrt, without --from, whose radio stays")
    _check_tls(options, policy)
    if options.programs or options.source is not None:
        beside = options.json + options.messages
        if len(options.programs) > 1 or beside or options.links != 1:
            raise UsageError("--hostapd, --wpa-supplicant, --openwrt: one alone, nothing beside it")
        # The advice and the real stack take a while to load, and no other catalogue needs them.
        from airtoll.advising.settings import change_of, second_of, settings_of

        program = next(iter(options.programs), None)
        if options.source is not None:
            source = str(options.source)
            asked = {"ssid": options.ssid, "band": options.band}
            text = change_of(policy, source, program=program, **asked).text
        else:
            assert program is not None
            source, asked = f"the file of {program}", {}
            text = settings_of(policy, program, options.profile, options.tls)
        if options.second is not None:
            text = second_of(resolve(options.second), text, source, **asked)
        sys.stdout.write(text)
        return
    if options.second is not None:
        raise UsageError("--second-ssid: needs --hostapd, --openwrt or --from FILE")
    row = _policy_row(policy)
    negotiation = negotiate(policy, over_links(policy, options.links))
    row["negotiation"] = negotiation
    row["variants"] = variants(policy)
    if options.json:
        emit_json(row)
        return
    console = out()
    link = policy.link
    console.print(policy.name, style="bold")
    view = table(None, ["", ""])
    known_as = ", ".join(row["aliases"])
    facts: list[tuple[str, str]] = [
        ("also called", known_as or "-"),
        ("link cipher", f"{link.cipher.value} (group {link.group_cipher.value})"),
        ("key management", f"{link.akm.selector} ({link.akm})" if link.akm else "-"),
        ("802.11 authentication", link.authentication),
        ("EAP method", link.eap_method or "-"),
        ("protected management frames", link.pmf),
        ("tunnels", " inside ".join(_tunnel_text(t) for t in row["tunnels"]) or "-"),
        ("octets per MPDU", str(policy.octets_per_mpdu)),
        ("octets per MSDU", str(policy.octets_per_msdu)),
        ("HT, VHT and HE rates", "allowed" if policy.ht_allowed else "forbidden"),
        ("EHT and multi-link", why_not_eht(policy) or "allowed"),
        ("6 GHz", why_not_at_6ghz(policy) or "allowed"),
    ]
    for key, value in [*facts, *summary_rows(negotiation), *variant_rows(row["variants"])]:
        view.add_row(key, value)
    for service in SERVICE_NAMES:
        view.add_row(service.replace("_", " "), "yes" if row["services"][service] else "no")
    for reference in policy.broken:
        view.add_row("broken", f"{reference.what} ({reference.source})")
    for reference in policy.weaknesses:
        view.add_row("weakness", f"{reference.what} ({reference.source})")
    console.print(view)
    if options.messages:
        print_messages(negotiation)


def _check_tls(options: PolicyOptions, policy: Policy) -> None:
    """Refuse a version of TLS that no written line would state."""
    if options.tls is None:
        return
    if options.tls not in ("1.2", "1.3"):
        raise UsageError(f"--tls {options.tls}: allowed are 1.2, 1.3")
    if not options.supplicant or options.source is not None:
        raise UsageError(
            "--tls: needs --wpa-supplicant, without --from; an access point passes TLS on, and the "
            "RADIUS server has its own setting (FreeRADIUS: tls_max_version)"
        )
    if policy.link.eap_method is None or not policy.link.eap_method.uses_tls:
        raise UsageError(f"--tls: {policy.name} has no TLS in EAP")


@profiles.command("list")
def profiles_list(json: JsonOption = False) -> None:
    """List the device profiles."""
    rows = [
        {
            "name": profile.name,
            "about": profile.about,
            "fitted": bool(profile.fitted_numbers()),
            "numbers": len(profile.numbers()),
        }
        for profile in shipped_profiles().values()
    ]
    if json:
        emit_json(rows)
        return
    view = table(None, ["profile", "fitted", "about"])
    for row in rows:
        view.add_row(str(row["name"]), "yes" if row["fitted"] else "", str(row["about"]))
    out().print(view)


@profiles.command("networks")
def profiles_networks(
    policies_of_it: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[POLICY]...", help="Policies of an access point; default: common ones."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List which devices join a network of each policy, band by band, and why others do not."""
    wanted = [resolve(name) for name in policies_of_it or COMMON]
    found = {
        profile.name: {policy.name: networks(profile.capabilities, policy) for policy in wanted}
        for profile in joining()
    }
    if json:
        emit_json(
            [
                {"profile": name, "policy": policy, **asdict(band)}
                for name, row in found.items()
                for policy, bands in row.items()
                for band in bands
            ]
        )
        return
    view = table(None, ["profile", *(policy.name for policy in wanted)])
    for name, row in found.items():
        view.add_row(name, *(in_words(bands) for bands in row.values()))
    out().print(view)


@profiles.command("show")
def profiles_show(
    name: Annotated[str, typer.Argument(help="Name of a profile, or a TOML file.")],
    json: JsonOption = False,
) -> None:
    """Show every number of a profile with its source."""
    profile = load_profile(name)
    if json:
        emit_json(profile.model_dump(mode="json"))
        return
    console = out()
    console.print(f"{profile.name}: {profile.about}", style="bold")
    view = table(None, ["number", "value", "source"], right=["value"])
    for place, number in profile.numbers().items():
        mark = " (fitted)" if number.fitted else ""
        view.add_row(place, f"{number.value:g}", number.source + mark)
    console.print(view)
    stated = profile.capabilities.stated()
    if stated:
        view = table(None, ["can", "what", "source"])
        for field, (words, source) in stated.items():
            view.add_row(field, words, source)
        console.print(view)
    if profile.seen:
        console.print(f"fitted to {fitted_to(profile.seen)}", markup=False, soft_wrap=True)
    for suite, cost in profile.tunnel.items():
        if cost.unknown is not None:
            console.print(f"unknown: cost of {suite}: {cost.unknown}", markup=False)
    for gap in profile.gaps:
        console.print(f"gap: {gap}", markup=False)


@datasets.command("list")
def datasets_list(json: JsonOption = False) -> None:
    """List the published data sets."""
    rows = [show_dataset(load_dataset(name)) for name in list_datasets()]
    if json:
        emit_json(rows)
        return
    view = table(None, ["data set", "about"])
    for name, row in zip(list_datasets(), rows, strict=True):
        view.add_row(name, str(row.get("title", row.get("source", ""))))
    out().print(view)


@datasets.command("show")
def datasets_show(
    name: Annotated[str, typer.Argument(help="Name of a data set.")], json: JsonOption = False
) -> None:
    """Show what a data set holds and where it comes from."""
    row = show_dataset(load_dataset(name))
    if json:
        emit_json(row)
        return
    view = table(None, ["", ""])
    for key, value in row.items():
        view.add_row(key.replace("_", " "), _shown(value))
    out().print(view)


def _shown(value: Any) -> str:
    """A value of a data set's summary: each source on a line of its own, names after commas."""
    if value is None or value == []:
        return "-"
    if isinstance(value, list):
        sources = any(isinstance(one, tuple) for one in value)
        words = (" ".join(one) if isinstance(one, tuple) else str(one) for one in value)
        return ("\n" if sources else ", ").join(words)
    return str(value)


@scenarios.command("list")
def scenarios_list(json: JsonOption = False) -> None:
    """List the scenarios of the shipped studies."""
    rows = []
    for study in shipped_studies():
        for name, settings in load_study(study).study.scenario.items():
            rows.append(
                {
                    "study": study,
                    "scenario": name,
                    "topology": settings.topology,
                    "phy": settings.phy,
                    "about": settings.about,
                }
            )
    if json:
        emit_json(rows)
        return
    view = table(None, ["study", "scenario", "topology", "phy", "about"])
    for row in rows:
        view.add_row(*row.values())
    out().print(view)


@scenarios.command("show")
def scenarios_show(
    study: Annotated[str, typer.Argument(help="Name or path of a study.")],
    scenario: Annotated[str, typer.Argument(help="Name of one of its scenarios.")],
    json: JsonOption = False,
) -> None:
    """Show the settings of one scenario, defaults included."""
    file = load_study(study)
    settings = file.study.scenario.get(scenario)
    if settings is None:
        raise typer.BadParameter(
            f"{study} has no scenario {scenario!r}; it has {', '.join(file.study.scenario)}"
        )
    values = settings.model_dump(mode="json")
    if json:
        emit_json(values)
        return
    view = table(None, ["field", "value", "meaning"])
    for key, field in type(settings).model_fields.items():
        view.add_row(key, str(values[key]), field.description or "")
    out().print(view)


def _policy_row(policy: Policy) -> dict[str, Any]:
    row = asdict(policy)
    row["aliases"] = [alias for alias, (name, _s) in aliases().items() if name == policy.name]
    row["octets_per_mpdu"] = policy.octets_per_mpdu
    row["octets_per_msdu"] = policy.octets_per_msdu
    row["ht_allowed"] = policy.ht_allowed
    row["eht_refusal"] = why_not_eht(policy)
    row["6ghz_refusal"] = why_not_at_6ghz(policy)
    return row


def _tunnel_text(tunnel: dict[str, Any]) -> str:
    return " ".join(str(value) for value in tunnel.values() if value != "none")
