"""The scenarios of ``places.toml``, and the joins of a place.

Takes the name of a scenario or a situation; gives keys of a scenario. Measures nothing.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any, Final

from airtoll import border
from airtoll.advising.situation import Situation
from airtoll.policies import Policy
from airtoll.study.join import SIGNATURES, Join

#: Place -> the scenario of its joins.
_JOINING: Final = {"home": "home-join", "office": "office-storm", "sensor": "sensor"}


def scenario_of(name: str) -> dict[str, Any]:
    """The keys of a scenario of the file."""
    return _entry("scenario", name)


def traffic_of(name: str) -> dict[str, Any]:
    """The keys of a traffic of the file."""
    return _entry("traffic", name)


def _entry(table: str, name: str) -> dict[str, Any]:
    text = resources.files(__package__).joinpath("places.toml").read_text("utf-8")
    found: dict[str, Any] = tomllib.loads(text)[table][name]
    return found


def tls_of(situation: Situation) -> str:
    """The version of TLS in EAP: the one that is said, that of the chain, or that of the place."""
    if situation.tls is None and Join(chain=situation.chain).is_post_quantum:
        return "1.3"
    join = scenario_of(_JOINING[situation.place]).get("join", {})
    return str(situation.tls or join.get("tls", Join.model_fields["tls"].default))


def resumes(situation: Situation, policy: Policy) -> bool:
    """Whether the joins of a policy resume the TLS session of an earlier one."""
    method = policy.link.eap_method
    return situation.tls_resumption and method is not None and method.uses_tls


def join_options(situation: Situation, policy: Policy) -> border.Options:
    """The options of a join of a policy, with certificates and TLS of the place."""
    return border.Options(
        chain=tuple(
            border.SignatureAlgorithm(SIGNATURES[name])
            for name in Join(chain=situation.chain).algorithms
        ),
        tls=border.TlsVersion(tls_of(situation)),
        tls_resumption=resumes(situation, policy),
    )
