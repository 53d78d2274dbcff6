"""The negotiation of a policy, for `airtoll policies show`.

Takes a policy; gives messages, octets, round trips and cryptographic work, counted from the octets
that its handshakes emit on a network without loss. Never measures time.
"""

from __future__ import annotations

from airtoll import _native, border
from airtoll.border.answers import Negotiated, NegotiatedTotals, Operation
from airtoll.cli.output import out, table
from airtoll.errors import UsageError
from airtoll.policies import Policy
from airtoll.policies.gates import why_not_multi_link

SEED = 1
#: Link IDs are 0 to 14 (IEEE 802.11be-2024, 9.4.2.322).
MOST_LINKS = 15
_VARIANTS = {
    "tls_resumption": "with a resumed TLS session",
    "cookies": "from a gateway under load (cookies)",
}


def negotiate(policy: Policy, options: border.Options | None = None) -> Negotiated:
    """Every message of a policy, its totals and its outcome (`airtoll._native.negotiate`).

    The secrets of the example are left out.
    """
    asked = border.to_json(border.Options() if options is None else options)
    result = _native.negotiate(border.to_json(policy.native()), SEED, asked)
    result["outcome"].pop("secrets", None)
    return result


def over_links(policy: Policy, links: int) -> border.Options:
    """The options of an association over ``links`` links, with beacon protection from two on.

    Raises ``UsageError`` for a number that no device has, and for a policy that may not use
    several links.
    """
    if not 1 <= links <= MOST_LINKS:
        raise UsageError(f"--links {links}: allowed are 1 to {MOST_LINKS}")
    if links == 1:
        return border.Options()
    reason = why_not_multi_link(policy)
    if reason is not None:
        raise UsageError(f"--links {links}: {policy.name} takes one link: {reason}")
    return border.Options(links=links, beacon_protection=True)


def variants(policy: Policy) -> dict[str, NegotiatedTotals]:
    """The totals of a policy's other join variants, by the key of `join` that selects them."""
    asked = {}
    if policy.link.eap_method is not None and policy.link.eap_method.uses_tls:
        asked["tls_resumption"] = border.Options(tls_resumption=True)
    if any(tunnel.kind == "wireguard" for tunnel in policy.tunnels):
        asked["cookies"] = border.Options(cookies=True)
    return {key: negotiate(policy, options)["totals"] for key, options in asked.items()}


def variant_rows(totals: dict[str, NegotiatedTotals]) -> list[tuple[str, str]]:
    """Rows for :func:`variants`: the work saved by a resumed session is mostly the server's."""
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


def summary_rows(negotiation: Negotiated) -> list[tuple[str, str]]:
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


def print_messages(negotiation: Negotiated) -> None:
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


def _work(operation: Operation) -> str:
    name = operation["operation"].replace("_", " ")
    amounts = (f"{key} {value}" for key, value in operation.items() if key != "operation")
    return " ".join([name, *amounts])
