"""The files of a policy for people: as the testbed writes them, with placeholders for secrets.

Takes a policy; gives the texts of hostapd.conf and wpa_supplicant.conf. Each is read back: a text
that does not mean the policy is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from airtoll.errors import PolicyError
from airtoll.network import hostapd_conf, supplicant_conf
from airtoll.network.draft import Draft
from airtoll.network.judging import finish
from airtoll.policies import Policy, resolve
from airtoll.policies.model import AccessControl
from airtoll.testbeds.linux.daemons import hostapd, wpa_supplicant
from airtoll.testbeds.linux.daemons.credentials import Chain, Credentials

_CHAIN: Final = Chain("", "", "", "", "")
#: Placeholders; addresses are those of RFC 5737 and 7042.
_PLACEHOLDERS: Final = Credentials(
    ssid="SSID",
    passphrase="PASSPHRASE",
    wep_40="0" * 10,
    wep_104="0" * 26,
    password="PASSWORD",
    radius_secret="RADIUS-SECRET",
    ike_secret="",
    rrb_key="0" * 64,
    mobility_domain="a1b2",
    mobility_key="",
    eap={},
    dns=_CHAIN,
)
_BSSID: Final = "00:00:5e:00:53:01"
_RADIUS: Final = hostapd.RadiusAddress("192.0.2.1", 1812, "192.0.2.2")
#: Keys whose values belong to one access point, one server or one test.
_EXAMPLES: Final = (
    "hw_mode",
    "channel",
    "nas_identifier",
    "r1_key_holder",
    "own_ip_addr",
    "auth_server_addr",
    "scan_freq",
    "identity",
    "domain_match",
)
_ACCEPT: Final = "/etc/hostapd.accept"


def hostapd_text(policy: Policy) -> str:
    """The text of hostapd.conf. Raises ``PolicyError`` where one file does not say it all."""
    listed = AccessControl.MAC_ACL in policy.access_control
    text = hostapd.configuration(
        policy,
        _PLACEHOLDERS,
        hostapd.Radio("wlan0"),
        "/run/hostapd",
        radius=_RADIUS,
        bssid=_BSSID,
        accept_file=_ACCEPT if listed else None,
    )
    if policy.link.fast_transition:
        # A client that moves fast knows where to: it asks for the neighbours (802.11k).
        text += "rrm_neighbor_report=1\n"
    return _checked(policy, text, "hostapd.conf", hostapd_conf.drafts)


def wpa_supplicant_text(policy: Policy, tls: str = "1.2") -> str:
    """The text of wpa_supplicant.conf. ``tls``: the newest version in EAP, 1.2 or 1.3; the program
    itself takes 1.2. Raises ``PolicyError`` as above.
    """
    text = wpa_supplicant.configuration(
        policy,
        _PLACEHOLDERS,
        "/run/wpa_supplicant",
        wpa_supplicant.Files("/etc/ssl/ca.pem", "/etc/ssl/client.pem", "/etc/ssl/client.key"),
        (2412,),
        tls=tls,
    )
    # Tests join anew each time; people keep TLS sessions, as the program does unasked.
    text = text.replace("fast_reauth=0\n", "", 1)
    return _checked(policy, text, "wpa_supplicant.conf", supplicant_conf.drafts)


def _checked(
    policy: Policy, text: str, name: str, drafts: Callable[[str, str], Iterator[Draft]]
) -> str:
    """The text, if it means the links of the policy."""
    (network,) = [finish(draft) for draft in drafts(text, name)]
    link = policy.link
    wanted = {resolve(one).link for one in (*network.candidates, *network.offers)}
    if link not in wanted:
        found = network.policy or "no policy"
        raise PolicyError(
            f"policy {policy.name!r}: one {name} does not say it all: alone it means {found}"
        )
    head = f"# {policy.name}; replace what is written in capitals.\n"
    examples = [key for key in _EXAMPLES if re.search(rf"^\s*{key}=", text, re.MULTILINE)]
    if examples:
        head += f"# Examples that fit no other network: {', '.join(examples)}.\n"
    if "mobility_domain=" in text and "ieee8021x=1" in text:
        head += "# Fast transition needs an r0kh= and an r1kh= line for every other access point.\n"
    if "rrm_neighbor_report=" in text:
        head += "# hostapd_cli set_neighbor tells rrm_neighbor_report the other access points.\n"
    if policy.tunnels:
        head += "# The tunnel is set up by other programs.\n"
    return head + text
