"""What a policy negotiates, for `airtoll policies show`.

Takes a policy; gives messages, octets, round trips and cryptographic work, counted from the octets
that its handshakes emit on a network without loss. Never measures time.
"""

from __future__ import annotations

import json
from typing import Any

from attrs import asdict

from airtoll import _native
from airtoll.cli.output import out, table
from airtoll.policies import Policy

SEED = 1


def negotiate(policy: Policy) -> dict[str, Any]:
    """Every message of a policy, its totals and its outcome (`airtoll._native.negotiate`).

    Keys stay out: an example's secrets are of no use to a reader.
    """
    result = _native.negotiate(json.dumps(asdict(policy)), SEED)
    result["outcome"].pop("secrets", None)
    return result


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
