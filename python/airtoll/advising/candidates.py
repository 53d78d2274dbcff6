"""The policies that one could have, and those that cannot be had here or whose cost is unknown.

Takes a situation and needs; gives names and typed reasons. Measures nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from airtoll.advising.places import join_options
from airtoll.advising.situation import Situation
from airtoll.analyse.advice import Needs, unmet
from airtoll.answer import Possible
from airtoll.plan.abilities import lacks_security
from airtoll.policies import Cipher, Policy, display_name, resolve
from airtoll.policies.gates import why_not_at_6ghz
from airtoll.policies.standing import needs_8021x
from airtoll.profiles import load, shipped
from airtoll.question import Arm
from airtoll.testbeds.daily import join_unknown
from airtoll.testbeds.resolve import SAE_MULTIPLICATION
from airtoll.testbeds.unpriced import prices_link, radio_is_unknown

#: Candidates of each place unless they are named.
_OF_PLACE: Final = {
    "home": (
        "wpa2-psk-ccmp", "wpa2-wpa3-psk-transition", "wpa3-sae-ccmp", "wpa3-sae-gcmp-256",
        "wpa3-eap-tls-ccmp",
    ),
    "office": (
        "wpa3-sae-ccmp", "wpa3-ft-sae-ccmp", "wpa2-ft-eap-tls-ccmp", "wpa3-eap-peap-ccmp",
        "wpa3-eap-tls-ccmp", "wpa3-ft-eap-tls-ccmp", "wpa3-ft-eap-tls-gcmp-256",
    ),
    "sensor": (
        "wpa2-psk-ccmp", "wpa2-wpa3-psk-transition", "wpa3-sae-ccmp", "wpa2-eap-tls-ccmp",
        "wpa3-eap-tls-ccmp",
    ),
}  # fmt: skip
#: A public network has no secret, and its visitors cannot be given one.
_OPEN: Final = ("owe-ccmp", "owe-transition")
TUNNEL: Final = "wireguard"


@frozen
class Candidates:
    """``measured``: those to measure, in order. ``impossible``, ``unknown``: the others."""

    measured: tuple[str, ...]
    impossible: tuple[Possible, ...]
    unknown: tuple[Possible, ...]
    unmet: tuple[Possible, ...] = ()


def candidates(situation: Situation, named: Sequence[str], needs: Needs) -> Candidates:
    """Every candidate, sorted by what is known before any measurement."""
    have = resolve(situation.have)
    names = [resolve(name).name for name in named] or [
        *(_OPEN if have.is_baseline or have.name.startswith("owe") else ()),
        *_OF_PLACE[situation.place],
    ]
    measured, impossible, unknown, lacking = [], [], [], []
    profile = load(situation.profile) if situation.profile is not None else None
    of_sensor = situation.place == "sensor" and profile is not None
    for name in dict.fromkeys(names):
        if name == have.name:
            continue
        policy = resolve(name)
        if reason := _why_not(situation, policy):
            impossible.append(_possible(name, reason))
        elif reason := unmet(needs, policy):
            lacking.append(_possible(name, reason))
        elif reason := (
            why_join_unknown(situation, policy) if of_sensor else why_unknown(situation, policy)
        ):
            unknown.append(_possible(name, reason))
        else:
            measured.append(name)
    return Candidates(tuple(measured), tuple(impossible), tuple(unknown), tuple(lacking))


def _possible(name: str, reason: str) -> Possible:
    return Possible(Arm((("policy", name),)), reason, ())


def _why_not(situation: Situation, policy: Policy) -> str | None:
    if not situation.radius and needs_8021x(policy):
        return "it needs a RADIUS server, and there is none"
    if situation.band == "6" and (reason := why_not_at_6ghz(policy)):
        return f"at 6 GHz: {reason}"
    if policy.broken:
        return f"broken: {policy.broken[0].what}"
    if situation.place == "sensor" and situation.profile is not None:
        can = load(situation.profile).capabilities
        return next((f"{situation.profile} has {one}" for one in lacks_security(can, policy)), None)
    return None


def why_join_unknown(situation: Situation, policy: Policy) -> str | None:
    """The reason for which the energy of a sensor's join is unknown."""
    assert situation.profile is not None
    is_stated = situation.multiplication_ms is not None
    reason = join_unknown(
        policy,
        load(situation.profile),
        join_options(situation, policy),
        multiplication_stated=is_stated,
    )
    if reason is None or is_stated or SAE_MULTIPLICATION not in reason:
        return reason
    return f"{reason} (--multiplication-ms)"


def why_unknown(situation: Situation, policy: Policy) -> str | None:
    """The reason for which the cost of a policy on the access point is unknown."""
    profile = load(situation.profile) if situation.profile is not None else None
    link = policy.link
    if link.encrypts_data and link.cipher is not Cipher.NONE:
        cipher = str(link.cipher).upper()
        if profile is None or radio_is_unknown(profile):
            # Every radio since 802.11n encrypts CCMP-128 (IEEE 802.11-2020, 12.2.4).
            if link.cipher is not Cipher.CCMP_128:
                look = "--profile NAME, `airtoll profiles list`"
                if profile is not None:
                    look = "`airtoll doctor --radio --host root@ROUTER` tells it"
                of = situation.profile or "the access point"
                return f"whether the radio of {of} has {cipher} is unknown ({look})"
        elif not prices_link(profile, str(link.cipher)):
            lacks = profile.capabilities.works_out(str(link.cipher)) is False
            where = f"the radio of {profile.name} lacks {cipher}, and " if lacks else ""
            return f"{where}no cost of {cipher} on the CPU of {profile.name} is published"
    # The access point forwards the packets of a tunnel that ends beyond it.
    for tunnel in policy.tunnels if situation.tunnel_end == "access-point" else ():
        if profile is None:
            return (
                f"the cost of {_tunnel(policy)} on the access point's CPU is unknown "
                "(--profile NAME, `airtoll profiles list`; --tunnel-end server for one that ends "
                "beyond it)"
            )
        cost = profile.tunnel.get(tunnel.suite)
        if cost is None or cost.unknown is not None:
            return f"no cost of {_tunnel(policy)} on the CPU of {profile.name} is published"
    return None


def lacking(cipher: Cipher) -> tuple[str, ...]:
    """The profiles of devices that are known to lack a cipher, by name."""
    found = []
    for name, profile in sorted(shipped().items()):
        ciphers = profile.capabilities.ciphers
        if ciphers is not None and str(cipher) not in ciphers.values:
            found.append(name)
    return tuple(found)


def _tunnel(policy: Policy) -> str:
    return display_name(policy).partition(" + ")[2]
