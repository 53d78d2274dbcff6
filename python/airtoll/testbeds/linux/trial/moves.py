"""Moves of a station to the next access point, with a packet every 10 ms under way.

Takes a trial's progress with both access points up; gives the station on the other one, verified
anew and reachable. The gap is read from the capture of the air, not measured here.
"""

from __future__ import annotations

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.daemons import foreign
from airtoll.testbeds.linux.hosts import radios
from airtoll.testbeds.linux.trial import association
from airtoll.testbeds.linux.trial.progress import Progress


async def roam(progress: Progress) -> None:
    """Move the first station, or with Mobile IP every station, to the next AP.

    The job names the trigger. Raises ``TestbedError`` when a station does not get there, or carries
    no data from there.
    """
    job = progress.job
    for name in job.stations if job.mobile_ip else job.stations[:1]:
        await _roam(progress, name)


async def _roam(progress: Progress, name: str) -> None:
    stack, job, layout = progress.stack, progress.job, progress.layout
    station = progress.stations[name]
    current = (await station.status())["bssid"]
    addresses = [stack.radios[node].address for node in layout.access_points]
    # In turn: after as many moves as there are access points, the station has been at each.
    target = addresses[(addresses.index(current) + 1) % len(addresses)]
    host = progress.host(name)
    stream = await host.start(
        ["ping", "-q", "-i", "0.01", "-I", layout.source(name), layout.peer(name)],
        log=f"{stack.folder}/roam-ping.log",
    )
    try:
        limit = job.connect_limit_s
        if job.roam == "forced":
            await station.scan(target, limit)
            await station.roam(target, limit)
        elif not stack.virtual:
            raise TestbedError("linux: only virtual radios fade on command; roam by 'forced'")
        else:
            station.control.forget()
            for node in layout.access_points:
                level = -85 if stack.radios[node].address == current else -40
                heard = await _fade(progress, node, name, level)
                progress.conditions.heard_at_dbm[node] = heard
            await station.control.wait_for(
                f"CTRL-EVENT-CONNECTED - Connection to {target}", limit_s=limit * 2
            )
        await association.verify(progress, name, await station.status())
        if job.handover != "none":
            await _forget(progress, name, current)
        if job.mobile_ip:
            told = await foreign.register(
                host,
                stack.folder,
                stack.radios[layout.nodes[name]].interface,
                layout.source(name),
                stack.credentials.mobility_key,
            )
            progress.conditions.registrations += (told,)
        await progress.reachable()
    finally:
        await stream.stop()


async def _forget(progress: Progress, name: str, bssid: str) -> None:
    """Let the access point that a station left before the traffic drop it, and keep its PMK.

    With PMF an access point refuses an association for a second while it holds another one of that
    station (IEEE 802.11-2020, 11.13). A hand-over to it would begin with that second.
    """
    left = next(
        point
        for point in progress.access_points
        if progress.stack.radios[point.host.name].address == bssid
    )
    await left.control.request(f"DISASSOCIATE {progress.address_of_radio(name)} tx=0")


async def _fade(progress: Progress, node: str, station: str, dbm: int) -> int:
    """Set the level between an access point and a station; gives the level that it took."""
    stack = progress.stack
    if stack.medium is not None:
        await stack.medium.level(node, progress.layout.nodes[station], dbm)
        return dbm
    radio = stack.radios[node]
    progress.undo.push_async_callback(radios.full_level, stack.root, radio)
    return await radios.signal_level(stack.root, stack.hosts[node], radio, dbm)
