"""From a situation to a decision: candidates, measurement, claims.

Takes a situation; gives a :class:`Decision` and the words for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from airtoll.advising.candidates import TUNNEL, candidates
from airtoll.advising.decision import Choice, Decision, Storm, decide, why_tunnel_unknown
from airtoll.advising.limits import limits_of
from airtoll.advising.measure import (
    Measures,
    Memo,
    beside_ssid,
    margin,
    measure,
    measured_parts,
    relieved,
    requests_of_a_join,
    scanning,
    to_other_end,
)
from airtoll.advising.screen import Screen, screen
from airtoll.advising.settings import change_of
from airtoll.advising.situation import Situation, situation
from airtoll.analyse.advice import Needs
from airtoll.answer import Compare, Layered, Margin, layered
from airtoll.errors import AirtollError, UsageError
from airtoll.network.changing import Changed
from airtoll.policies import resolve
from airtoll.policies.standing import needs_8021x

#: Share of throughput that a stronger policy may cost, unless an option says otherwise.
MOST_LOSS: Final = 0.05


@frozen
class Advised:
    """A decision and its words."""

    decision: Decision
    screen: Screen

    @property
    def policy(self) -> str | None:
        """The policy that is recommended; None where there is none."""
        return self.decision.policy

    @property
    def answer(self) -> str:
        """The decision in one sentence."""
        return self.screen.answer


def advise(
    have: str,
    *,
    candidates: Sequence[str] = (),
    needs: Needs | None = None,
    most_loss: float = MOST_LOSS,
    trials: int | None = None,
    **known: Any,
) -> Advised:
    """The policy to change to from the one that one has.

    ``have``: a policy, or a file with networks. ``known``: what is known of the place, as
    :func:`airtoll.advising.situation` takes it (``place``, ``phy``, ``profile``, ``clients``...).
    ``candidates``: the only policies to consider. ``most_loss``: the share of throughput that a
    stronger policy may cost. ``trials``: of each cell.

    Measures in the simulator for some seconds. Raises ``UsageError`` for a place that is not
    possible, ``PolicyError`` for an unknown policy.

    >>> from airtoll import advise
    >>> advised = advise("wpa2-psk-ccmp", place="home", candidates=["wpa3-sae-ccmp"], trials=2)
    >>> advised.policy
    'wpa3-sae-ccmp'
    """
    decision, measures = decided(
        situation(have, **known), named=candidates, needs=needs, most_loss=most_loss, trials=trials
    )
    return Advised(decision, screen(decision, measures.names))


def decided(
    situation: Situation,
    *,
    named: Sequence[str] = (),
    needs: Needs | None = None,
    most_loss: float = MOST_LOSS,
    trials: int | None = None,
    asked: str | None = None,
    memo: Memo | None = None,
    brief: bool = False,
    phase: Callable[[str], None] | None = None,
) -> tuple[Decision, Measures]:
    """Measure the candidates and decide. ``named``: the only candidates, where there are any.

    ``asked``: the one candidate that the question is about. ``memo``: results of earlier questions
    of the same places, which it adds to. ``brief``: nothing beside the claims and the decision.
    """
    named = named if asked is None else (resolve(asked).name,)
    found = candidates(situation, named, needs or Needs())
    limits = limits_of(situation, needs or Needs())
    _refuse_tunnel_end(situation, named)
    # A question about one link is none about a tunnel over it.
    one_link = asked is not None and not resolve(asked).tunnels
    over = None if one_link else _link(situation, found.measured, named)
    whole = None if over is None else resolve(f"{over}+{TUNNEL}").name
    without = why_tunnel_unknown(situation, whole) if whole is not None else None
    measures = measure(
        situation,
        found.measured,
        over=over if without is None else None,
        trials=trials,
        memo=memo,
        phase=phase,
    )
    decision = decide(
        situation,
        found,
        measures,
        most_loss=most_loss,
        layered=_layered(measures, over),
        tunnel_unknown=without,
        limits=limits,
    )
    if asked is not None:
        decision = evolve(decision, asked=named[0], asked_as=asked)
    if brief:
        return decision, measures
    walked = any(part.roams for part in measured_parts(situation)) and decision.policy is not None
    ends = decision.layered is not None and not situation.tunnel_end_said
    return evolve(
        decision,
        changed=_changed(decision),
        margin=_margin(decision, trials, phase),
        lost=measures.lost,
        storm=_storm(decision, measures, trials, phase),
        second=_second(decision, trials, phase),
        elsewhere=(
            to_other_end(situation, over, trials=trials, phase=phase)
            if over is not None and ends
            else None
        ),
        scanned=(
            scanning(situation, str(decision.policy), trials=trials, phase=phase)
            if walked
            else None
        ),
    ), measures


def _storm(
    decision: Decision,
    measures: Measures,
    trials: int | None,
    phase: Callable[[str], None] | None,
) -> Storm | None:
    """The RADIUS requests of the policy to change to; None where it has none."""
    about = decision.about
    if about is None or about in decision.slow:
        return None
    if (sent := measures.requests.get(about.policy)) is None:
        return None
    needed = requests_of_a_join(decision.situation, about.policy)
    spared = relieved(decision.situation, about.policy, trials=trials, phase=phase)
    return Storm(needed, sent, spared)


def _second(
    decision: Decision, trials: int | None, phase: Callable[[str], None] | None
) -> Compare | None:
    """A second SSID for the devices that a change shuts out; None where there are none.

    A broken policy is kept for no device, and 6 GHz takes no older one.
    """
    situation, about = decision.situation, decision.about
    have = resolve(situation.have)
    if about is None or not about.gain.excludes or situation.place == "sensor":
        return None
    if have.broken or have.is_baseline or situation.band == "6":
        return None
    return beside_ssid(situation, about.policy, trials=trials, phase=phase)


def _changed(decision: Decision) -> Changed | None:
    """The file of the network with the policy to change to; None where it cannot be written."""
    network = decision.situation.network
    if network is None or decision.to is None or decision.choice is not Choice.CHANGE:
        return None
    if len(network.sources) != 1 or not Path(network.sources[0]).is_file():
        return None
    try:
        return change_of(resolve(decision.to.policy), network.sources[0], ssid=network.name)
    except AirtollError:
        return None


def _refuse_tunnel_end(situation: Situation, named: Sequence[str]) -> None:
    """Refuse a far end where no policy in question has a tunnel."""
    if not situation.tunnel_end_said or (situation.place == "home" and not named):
        return
    if not any(resolve(name).tunnels for name in (situation.have, *named)):
        raise UsageError(
            "--tunnel-end: no policy in question has a tunnel (--policy wpa3-sae-ccmp+wireguard)"
        )


def _margin(
    decision: Decision, trials: int | None, phase: Callable[[str], None] | None
) -> Margin | None:
    """How near the RADIUS server is to failing; None where no policy in question needs it."""
    situation = decision.situation
    if situation.place != "office" or not situation.radius:
        return None
    if decision.too_slow:
        return margin(situation, decision.too_slow[0], holds=False, trials=trials, phase=phase)
    policy = decision.policy
    if policy is None or not needs_8021x(resolve(policy)):
        return None
    return margin(situation, policy, holds=True, trials=trials, phase=phase)


def _link(situation: Situation, measured: Sequence[str], named: Sequence[str]) -> str | None:
    """The link that WireGuard is put on: that of a named policy with it, or of a home."""
    for name in named:
        parts = name.split("+")
        if TUNNEL in parts and len(parts) > 1:
            return resolve(parts[0]).name
    if situation.place != "home" or any("+" in name for name in named):
        return None
    links = [
        name
        for name in (*measured, situation.have)
        if resolve(name).link.encrypts_data and not resolve(name).tunnels
    ]
    new = [name for name in links if name == "wpa3-sae-ccmp"]
    return next(iter((*new, *links)), None)


def _layered(measures: Measures, over: str | None) -> Layered | None:
    if over is None or measures.from_open is None or measures.from_link is None:
        return None
    link, tunnel = resolve(over), resolve(TUNNEL)
    whole = resolve(f"{over}+{TUNNEL}")
    return layered(measures.from_open, measures.from_link, link, tunnel, whole)
