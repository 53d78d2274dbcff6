"""The negotiation of a policy, for `airtoll policies show`.

Takes a policy; gives messages, octets, round trips and cryptographic work, counted from the octets
that its handshakes emit on a network without loss. Never measures time.
"""

from __future__ import annotations

import json
from typing import Any

from airtoll import _native
from airtoll.cli.output import out, table
from airtoll.policies import Policy

SEED = 1
_VARIANTS = {
    "tls_resumption": "with a resumed TLS session",
    "cookies": "from a gateway under load (cookies)",
}


def negotiate(policy: Policy, **options: bool) -> dict[str, Any]:
    """Every message of a policy, its totals and its outcome (`airtoll._native.negotiate`).

    ``options`` are what the policy leaves open. Keys stay out: an example's secrets are of no use
    to a reader.
    """
    result = _native.negotiate(json.dumps(policy.native()), SEED, json.dumps(options))
    result["outcome"].pop("secrets", None)
    return result


def variants(policy: Policy) -> dict[str, dict[str, Any]]:
    """The totals of a policy's other join variants, by the key of `join` that selects them."""
    asked = []
    if policy.link.eap_method is not None and policy.link.eap_method.uses_tls:
        asked.append("tls_resumption")
    if any(tunnel.kind == "wireguard" for tunnel in policy.tunnels):
        asked.append("cookies")
    return {key: negotiate(policy, **{key: True})["totals"] for key in asked}


def variant_rows(totals: dict[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """Rows for :func:`variants`: a resumed session spares the server's work most."""
    rows = []
    for key, of in totals.items():
        rows.append(
            (
                _VARIANTS[key],
                f"{of['messages']} messages, on the air {of['messages_air']} with "
                f"{of['octets_air']} octets, {of['round_trips']} round trips",
            )
        )
        rows += [
            (f"  work of the {party['party']}", ", ".join(_work(o) for o in party["operations"]))
            for party in of["by_party"]
            if party["party"] == "authentication-server" and key == "tls_resumption"
        ]
    return rows


def summary_rows(negotiation: dict[str, Any]) -> list[tuple[str, str]]:
    """Rows for the table of a policy."""
    totals = negotiation["totals"]
    parts = ", ".join(f"{p['protocol']} {p['messages']}" for p in totals["by_protocol"])
    rows = [
        ("messages", f"{totals['messages']} ({parts})"),
        ("messages on the air", f"{totals['messages_air']}, {totals['octets_air']} octets"),
        ("round trips", str(totals["round_trips"])),
    ]
    rows += [
        (f"work of the {p['party']}", ", ".join(_work(o) for o in p["operations"]) or "-")
        for p in totals["by_party"]
    ]
    if negotiation["preparation"]:
        rows.append(("work once", ", ".join(_work(o) for o in negotiation["preparation"])))
    return rows


def print_messages(negotiation: dict[str, Any]) -> None:
    """One line for each message."""
    columns = ["stage", "from", "to", "protocol", "message", "octets", "work before it"]
    view = table(None, columns, right=["octets"])
    for message in negotiation["messages"]:
        view.add_row(
            message["stage"],
            message["from"],
            message["to"],
            message["protocol"],
            message["name"],
            str(message["length"]),
            ", ".join(_work(o) for o in message["operations"]),
        )
    out().print(view)


def _work(operation: dict[str, Any]) -> str:
    values = dict(operation)
    name = str(values.pop("operation")).replace("_", " ")
    return name + " " + " ".join(f"{key} {value}" for key, value in values.items())
