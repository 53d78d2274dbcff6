"""The fixed rate of a trial: set on every radio, and found again in what the medium carried.

Takes a job and its policy; gives settings for hostapd and iw, and a refusal where data went at
another rate. Never takes a setting for a fact: mac80211 falls back to other rates where it is let.
"""

from __future__ import annotations

import contextlib
from typing import Final

from airtoll.border.answers import MediumStatistics
from airtoll.policies import Policy
from airtoll.testbeds.linux.hosts.host import Host
from airtoll.testbeds.linux.job import Job

#: PHYs whose rates are MCSs.
HT: Final = ("802.11n", "802.11ac")


def uses_mcs(job: Job, policy: Policy) -> bool:
    """Whether the stations of a job send with HT or VHT: WEP and TKIP forbid both."""
    return job.phy in HT and policy.ht_allowed


def fixed(job: Job, policy: Policy) -> str | None:
    """The one rate of data frames, as the medium names it; None where mac80211 chooses."""
    if uses_mcs(job, policy):
        assert job.mcs is not None
        # HT numbers streams and modulation together.
        mcs = job.mcs % 8 if job.phy == "802.11n" else job.mcs
        return (
            f"MCS {mcs}, {_streams(job)} streams, {job.width_mhz} MHz, {job.guard_interval_ns} ns"
        )
    return None if job.rate_mbps is None else f"{job.rate_mbps:g}"


def _streams(job: Job) -> int:
    if job.phy == "802.11n" and job.mcs is not None and job.mcs > 7:
        return job.mcs // 8 + 1
    return job.streams


def access_point(job: Job, policy: Policy, channel: int) -> list[str]:
    """Lines of hostapd.conf for HT and VHT, for a primary channel at 5 GHz."""
    if not uses_mcs(job, policy):
        return []
    short = job.guard_interval_ns == 400
    ht = "[HT40+]" if job.width_mhz >= 40 else ""
    if short:
        ht += "[SHORT-GI-20][SHORT-GI-40]"
    lines = ["ieee80211n=1", "wmm_enabled=1", f"ht_capab={ht}"]
    if job.phy == "802.11ac":
        wide = job.width_mhz == 80
        lines += ["ieee80211ac=1", f"vht_capab={'[SHORT-GI-80]' if short else ''}"]
        lines.append(f"vht_oper_chwidth={int(wide)}")
        if wide:
            # The middle of the 80 MHz that begin at the primary channel.
            lines.append(f"vht_oper_centr_freq_seg0_idx={channel + 6}")
    return lines


async def fix(host: Host, interface: str, job: Job, policy: Policy) -> None:
    """Let a radio send data at the one rate of the job; raises ``HostError`` where it cannot."""
    band = "5" if job.channel > 14 else "2.4"
    if uses_mcs(job, policy):
        assert job.mcs is not None
        if job.phy == "802.11n":
            index = job.mcs % 8 + 8 * (_streams(job) - 1)
            words = [f"ht-mcs-{band}", str(index)]
        else:
            words = [f"ht-mcs-{band}", f"vht-mcs-{band}", f"{_streams(job)}:{job.mcs}"]
        words.append(f"{'sgi' if job.guard_interval_ns == 400 else 'lgi'}-{band}")
    elif job.rate_mbps is not None:
        words = [f"legacy-{band}", f"{job.rate_mbps:g}"]
    else:
        return
    await host.run(["iw", "dev", interface, "set", "bitrates", *words])


async def thresholds(host: Host, phy: str, job: Job, undo: contextlib.AsyncExitStack) -> None:
    """Set a radio's thresholds of RTS and of fragmentation; they are off again with the trial."""
    for word, octets in (("rts", job.rts_octets), ("frag", job.fragment_octets)):
        if octets is not None:
            await host.run(["iw", "phy", phy, "set", word, str(octets)])
            undo.push_async_callback(host.run, ["iw", "phy", phy, "set", word, "off"])


async def pin(root: Host, phy: str, job: Job, policy: Policy) -> None:
    """Keep mac80211's rate control at the one MCS of the job, where the kernel lets it be told.

    It comes before the association. mac80211_hwsim reports aggregated frames in a way that Minstrel
    ignores, so Minstrel stays at its first rate, and the mask of :func:`fix` leaves that one's
    width of 20 MHz. ``root``: a host that sees debugfs.
    """
    if not uses_mcs(job, policy):
        return
    path = f"/sys/kernel/debug/ieee80211/{phy}/rc/fixed_rate_idx"
    await root.run(["sh", "-c", f"[ ! -w {path} ] || echo {minstrel_index(job)} > {path}"])


def minstrel_index(job: Job) -> int:
    """The job's MCS in the order of ``minstrel_mcs_groups`` (Linux 6.1, rc80211_minstrel_ht.c).

    Groups of 16 numbers: by width, guard interval and streams; HT, then CCK and OFDM, then VHT.
    """
    assert job.mcs is not None
    ht = job.phy == "802.11n"
    width = (20, 40, 80).index(job.width_mhz)
    short = job.guard_interval_ns == 400
    group = (0 if ht else 18) + 8 * width + 4 * short + _streams(job) - 1
    return group * 16 + (job.mcs % 8 if ht else job.mcs)


def refusal(job: Job, policy: Policy, counts: MediumStatistics) -> str | None:
    """Why the rates of the data frames are not the study's, or None."""
    wanted = fixed(job, policy)
    if wanted is None:
        return None
    seen: dict[str, int] = {}
    for radio in counts["radios"]:
        for name, attempts in radio["data_attempts"].items():
            seen[name] = seen.get(name, 0) + attempts
    others = {name: count for name, count in seen.items() if name != wanted}
    if not others:
        return None
    name, count = max(others.items(), key=lambda item: item[1])
    return (
        f"{sum(others.values())} of {sum(seen.values())} data frames went at another rate than the "
        f"fixed one ({wanted}), {count} of them at {name}"
    )
