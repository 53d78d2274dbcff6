"""The security that a policy adds to another, from the catalogue."""

from __future__ import annotations

from airtoll.answer.claims import Gain
from airtoll.policies import Policy, catalogue
from airtoll.policies.standing import NO_PMF_CAVEAT


def gained(have: Policy, to: Policy, pmf: str | None = None) -> Gain:
    """The services and weaknesses that differ.

    ``pmf``: protected management frames of the present network where they are not those of
    ``have``.
    """
    own, new = have.services.names(), to.services.names()
    faults = {one.what: None for one in (*have.broken, *have.weaknesses)}
    optional = pmf == "optional" and NO_PMF_CAVEAT.what in faults
    if pmf in ("optional", "required"):
        faults.pop(NO_PMF_CAVEAT.what, None)
    left = {one.what: None for one in (*to.broken, *to.weaknesses)}
    links = (to.link.transition, *to.link.overriding)
    # Stations of a transition may be those of its older link.
    weakest = have.link.transition or have.name
    admits = any(weakest.startswith(link) for link in links if link)
    if to.link.transition is not None and have.link.transition is None:
        # Beside its older link a transition has the newer one.
        admits |= (to.link.akm, to.link.cipher) == (have.link.akm, have.link.cipher)
    excludes = to.link != have.link and not admits
    older = any(links) and admits and to.link != have.link
    gone = tuple(what for what in faults if what not in left)
    return Gain(
        have=have.name,
        to=to.name,
        services=tuple(name for name in new if name not in own),
        lost=tuple(name for name in own if name not in new),
        ended=() if older else gone,
        kept=gone if older else (),
        completes_pmf=optional and to.link.pmf == "required",
        left=tuple(left),
        excludes=excludes,
        bridge=_bridge(have, to) if excludes and have.link.transition is None else "",
    )


def _bridge(have: Policy, to: Policy) -> str:
    """A transition policy with the old link beside a link of the new generation."""
    found = (
        policy.name
        for policy in catalogue()
        if policy.link.transition is not None
        and have.name.startswith(policy.link.transition)
        and policy.link.generation is to.link.generation
        and policy.link.akm == to.link.akm
        and not policy.link.overriding
    )
    return next(found, "")
