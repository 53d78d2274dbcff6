"""The two networks of ``airtoll explain``: policies by name, or files as ``airtoll advise`` reads.

Takes the words of ``--from`` and ``--to``; gives policies, and the radio link that files state.
"""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from airtoll.errors import PolicyError, UsageError
from airtoll.policies import resolve


@frozen
class Stated:
    """A network as its owner states it; None where it does not tell.

    ``policy``: canonical name; None where nothing is stated. ``pmf``: off, optional or required.
    ``told``: the settings that a file states, and assumptions where it is silent.
    ``name``: of the file.
    """

    policy: str | None = None
    pmf: str | None = None
    phy: str | None = None
    band: str | None = None
    width_mhz: int | None = None
    told: tuple[str, ...] = ()
    name: str = ""


def stated(
    sources: tuple[str | None, str | None], ssid: str | None, band: str | None
) -> tuple[Stated, Stated]:
    """The networks of ``--from`` and ``--to``. Raises ``UsageError`` that names the option.

    ``ssid`` and ``band`` choose among the networks of a file.
    """
    before, after = (
        Stated() if source is None else _stated(option, source, ssid, band)
        for option, source in zip(("--from", "--to"), sources, strict=True)
    )
    if ssid is not None and not (before.name or after.name):
        raise UsageError(f"--ssid {ssid}: neither --from nor --to is a file with networks")
    return before, after


def _stated(option: str, source: str, ssid: str | None, band: str | None) -> Stated:
    try:
        # A folder may have the name of a policy, with the measurements under it.
        return Stated(resolve(source).name)
    except PolicyError as error:
        if source != "-" and not Path(source).is_file():
            raise UsageError(
                f"{option} {source}: no such file of a network, and no policy: {error}"
            ) from error
    # The readers of files take time to load, which a policy does not need.
    from airtoll.advising.situation import networks_of, place_of

    network = networks_of(source, ssid, band, option)[0]
    assert network.policy is not None
    parts = [place_of(network)]
    parts += [network.phy] if network.phy else []
    parts += [f"{network.width_mhz} MHz"] if network.width_mhz else []
    parts += [f"802.11w {network.pmf}"] if network.pmf else []
    return Stated(
        resolve(network.policy).name,
        network.pmf,
        network.phy,
        network.band,
        network.width_mhz,
        (f"{option} {source}: {', '.join(parts)}", *network.assumed),
        source,
    )
