"""Gates: the security that a band or a PHY generation asks for.

Takes a PHY generation, a band and a policy; gives the PHY that devices would use, or the reason for
which they do not associate. ``GATES`` is the one table of these rules; each row has its sources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from attrs import frozen

from airtoll.policies.model import Generation, Policy

Effect = Literal["non-HT rates", "802.11ax", "refused"]

#: PHY generations with MCSs, which WEP and TKIP may not use.
_WITH_MCS: Final = ("802.11n", "802.11ac", "802.11ax", "802.11be")


@frozen
class Gate:
    """One rule.

    ``closes``: whether it is asked at all in a band, with a PHY generation. ``breaks``: the reason
    for which a policy does not pass, or None. ``effect``: what devices do then.
    """

    name: str
    title: str
    closes: Callable[[str, str], bool]
    breaks: Callable[[Policy], str | None]
    effect: Effect
    sources: tuple[str, ...]


@frozen
class Finding:
    """A gate that a policy does not pass, and the reason."""

    gate: Gate
    reason: str

    @property
    def words(self) -> str:
        """The effect and the reason, in one line without the name of the policy."""
        done = {
            "non-HT rates": "the link falls back to non-HT rates",
            "802.11ax": "the link falls back to 802.11ax (no EHT rates, no multi-link)",
            "refused": "no association",
        }[self.gate.effect]
        return f"{done}: {self.reason}"


def why_not_high_throughput(policy: Policy) -> str | None:
    """Why the link may not use HT and later rates, or None."""
    if policy.ht_allowed:
        return None
    return f"{policy.link.cipher.value} may not be used with HT and later rates"


def why_not_at_6ghz(policy: Policy) -> str | None:
    """Why the link may not be used at 6 GHz, or None."""
    link = policy.link
    if link.generation not in (Generation.WPA3, Generation.OWE):
        return "6 GHz takes WPA3 or OWE alone"
    if link.transition is not None:
        return "6 GHz takes no transition mode"
    if link.pmf != "required":
        return "6 GHz requires protected management frames"
    return None


def why_not_eht(policy: Policy) -> str | None:
    """Why the link may use neither EHT nor multi-link operation, or None."""
    link = policy.link
    if link.generation not in (Generation.WPA3, Generation.OWE):
        return "Wi-Fi 7 links take WPA3 or OWE alone"
    if link.transition is not None or link.pmf != "required":
        return "transition modes fall back to Wi-Fi 6"
    if link.cipher != "gcmp-256":
        return "the pairwise cipher must be GCMP-256"
    personal = link.generation is Generation.WPA3 and link.eap_method is None
    if personal and not (link.akm is not None and link.akm.requires_hash_to_element):
        return "SAE must be AKM 24 or 25 (group-dependent hash)"
    return None


def why_not_multi_link(policy: Policy) -> str | None:
    """Why a station may not join over several links, or None."""
    if reason := why_not_eht(policy):
        return reason
    if policy.link.akm is not None and policy.link.akm.is_ft:
        return "the keys of a fast transition over several links are not carried out"
    return None


#: In the order in which they are asked.
GATES: Final = (
    Gate(
        "6ghz",
        "6 GHz: WPA3 or OWE with PMF, no transition mode",
        lambda phy, band: band == "6ghz",
        why_not_at_6ghz,
        "refused",
        (
            "Cisco, Migrate to Wi-Fi 7 and 6 GHz (document 223061), section on 6 GHz, which quotes "
            "Wi-Fi Alliance, WPA3 Specification v3.4, section 11.2",
            "Cisco, Configure and Verify Wi-Fi 6E WLAN Layer 2 Security (document 220712)",
        ),
    ),
    Gate(
        "non-ht",
        "HT and later: no WEP, no TKIP",
        lambda phy, band: phy in _WITH_MCS,
        why_not_high_throughput,
        "non-HT rates",
        (
            "IEEE Std 802.11-2020, 12.6.1.1.2",
            "Linux mac80211, mlme.c: HT to EHT are disabled with WEP and TKIP",
        ),
    ),
    Gate(
        "eht",
        "EHT and multi-link: WPA3 or OWE with GCMP-256 and PMF; SAE as AKM 24 or 25",
        lambda phy, band: phy == "802.11be",
        why_not_eht,
        "802.11ax",
        (
            "Arista, Security Enhancements in Wi-Fi 7 (white paper)",
            "L. Wright, What is Wi-Fi 7 Security?, Redway Networks, 2025: networks below the "
            "requirements fall back to Wi-Fi 6",
            "OpenWrt, pull request 23009: GCMP-256 is mandatory with EHT, recommended before",
        ),
    ),
)


def findings(phy: str, band: str, policy: Policy) -> tuple[Finding, ...]:
    """The gates that a policy does not pass in a band (``6ghz``) with a PHY generation."""
    found = []
    for gate in GATES:
        reason = gate.breaks(policy) if gate.closes(phy, band) else None
        if reason is not None:
            found.append(Finding(gate, reason))
    # A link that falls to non-HT rates uses none of the generation above.
    if any(one.gate.effect == "non-HT rates" for one in found):
        found = [one for one in found if one.gate.effect != "802.11ax"]
    return tuple(found)
