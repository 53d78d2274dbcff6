"""Trials in virtual time: equal trials are equal to the octet, on a busy host too."""

from __future__ import annotations

import json
import multiprocessing
import resource
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import evolve

from airtoll.capture import capture_frames
from airtoll.plan import Trial, make_plan
from airtoll.study import Study
from airtoll.testbeds.contract import Measured
from airtoll.testbeds.guest import uml_kernel
from airtoll.testbeds.linux.air import medium
from airtoll.testbeds.linux.hosts import environment
from airtoll.testbeds.linux.hosts.cables import Cable
from airtoll.testbeds.linux.job import Flow, Job
from airtoll.testbeds.linux.testbed import Linux, job_of
from airtoll.testbeds.simulator import Simulator

pytestmark = [
    pytest.mark.guest,
    pytest.mark.skipif(
        uml_kernel.find() is None
        or medium.find() is None
        or any(shutil.which(tool) is None for tool in environment.TOOLS),
        reason="needs the daemons, `make build` and `airtoll guest build --driver uml`",
    ),
]

UDP = Flow(transport="udp", offered_bps=60e6, payload_octets=1472, duration_s=0.5)
JOIN = Flow(transport="udp", offered_bps=1e6, payload_octets=200, duration_s=0.2)


@pytest.fixture(scope="module")
def testbed() -> Iterator[Linux]:
    one = Linux(vm="uml")
    try:
        yield one
    finally:
        one.close()


def _burn() -> None:
    while True:
        pass


@contextmanager
def busy_host(processes: int = 2) -> Iterator[None]:
    workers = [multiprocessing.Process(target=_burn, daemon=True) for _ in range(processes)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def rows(measured: Measured) -> dict[str, float]:
    assert measured.failure is None, measured.failure
    return {row.metric: row.value for row in measured.rows}


@pytest.mark.parametrize(
    "policy",
    [
        "wpa2-psk-ccmp",
        *(
            pytest.param(policy, marks=pytest.mark.slow)
            for policy in (
                "wpa3-sae-ccmp",
                "wpa2-eap-peap-ccmp",
                "wpa2-eap-tls-ccmp",
                "wpa2-eap-ttls-ccmp",
                "wireguard",
                "ipsec-aes-gcm",
                "ipsec-3des-sha1",
            )
        ),
    ],
)
def test_the_same_trial_twice_is_the_same_to_the_octet(
    testbed: Linux, tmp_path: Path, policy: str
) -> None:
    job = Job(
        "same", policy, phy="802.11g", rate_mbps=54.0, flow=JOIN, seed=7, capture_traffic=True
    )
    first = testbed.carry_out(job, tmp_path / "first")
    with busy_host():
        second = testbed.carry_out(job, tmp_path / "second")
    assert rows(first) == rows(second)
    for name in ("air.pcap", "wire.pcap"):
        one, other = ((tmp_path / run / name).read_bytes() for run in ("first", "second"))
        assert one == other
    assert (tmp_path / "first" / "air.pcap").stat().st_size > 10_000


@pytest.mark.slow
def test_another_seed_is_another_trial(testbed: Linux, tmp_path: Path) -> None:
    octets = []
    for seed in (1, 2):
        job = Job(f"seed-{seed}", "wpa2-psk-ccmp", flow=None, seed=seed)
        assert testbed.carry_out(job, tmp_path / str(seed)).failure is None
        octets.append((tmp_path / str(seed) / "air.pcap").read_bytes())
    assert octets[0] != octets[1]


@pytest.mark.slow
def test_a_saturated_flow_has_the_throughput_of_the_air(testbed: Linux) -> None:
    job = Job("fast", "open", phy="802.11a", channel=36, rate_mbps=54.0, flow=UDP, probe=False)
    with busy_host():
        measured = testbed.carry_out(job)
    # The closed form without beacons is 29.93 Mb/s.
    assert rows(measured)["throughput_bps"] == pytest.approx(29.87e6, rel=0.02)
    assert not any("no radio throughput" in caveat for caveat in measured.caveats)
    assert "cpu_share" not in rows(measured)


@pytest.mark.slow
@pytest.mark.parametrize(("width_mhz", "simulated_bps"), [(20, 59.5e6), (40, 122.05e6)])
def test_aggregates_have_the_throughput_of_the_simulator(
    testbed: Linux, width_mhz: int, simulated_bps: float
) -> None:
    """`benchmarks/real_stack_rates.toml` gives the simulator's figures."""
    job = Job(
        "aggregates",
        "open",
        phy="802.11n",
        channel=36,
        mcs=7,
        width_mhz=width_mhz,
        flow=evolve(UDP, offered_bps=5e8, duration_s=2),
        probe=False,
    )
    assert rows(testbed.carry_out(job))["throughput_bps"] == pytest.approx(simulated_bps, rel=0.02)


@pytest.mark.slow
def test_tcp_is_held_back_by_its_queue_and_loses_nothing(testbed: Linux) -> None:
    """`benchmarks/real_stack_rates.toml` gives the simulator's figure."""
    job = Job(
        "tcp",
        "open",
        phy="802.11n",
        channel=36,
        mcs=7,
        width_mhz=40,
        flow=Flow(transport="tcp", duration_s=3, warm_up_s=1),
        probe=False,
        queue_frames=100,
        cable=Cable(1e9, 0.0, 1000),
    )
    found = rows(testbed.carry_out(job))
    assert found["throughput_bps"] == pytest.approx(107.4e6, rel=0.03)
    assert found["tcp_retransmissions"] == 0


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_hosts_send_nothing_of_their_own(testbed: Linux, tmp_path: Path) -> None:
    job = Job("quiet", "open", flow=evolve(JOIN, duration_s=2), capture_traffic=True)
    assert testbed.carry_out(job, tmp_path).failure is None
    command = ["tshark", "-r", str(tmp_path / "air.pcap"), "-Y", "icmpv6"]
    command += ["-T", "fields", "-e", "icmpv6.type"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # Searches for routers (133) and for duplicates of an address (135) took 2 % of 1 Mb/s. A host
    # still reports the group of a new address (143), at once and when its link changes.
    assert set(done.stdout.split()) <= {"143"}
    assert len(done.stdout.split()) <= 4


@pytest.mark.slow
def test_a_slow_flow_costs_the_cpu_no_loops(testbed: Linux) -> None:
    # A datagram takes 13 ms of air, and dozens of them wait in the station's socket.
    flow = Flow(transport="udp", offered_bps=5e6, payload_octets=1472, duration_s=1)
    job = Job("slow", "open", phy="802.11b", rate_mbps=1.0, flow=flow, probe=False)
    rows(testbed.carry_out(Job("first", "open", flow=None)))  # the credentials' guest is over
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert rows(testbed.carry_out(job))["throughput_bps"] == pytest.approx(0.86e6, rel=0.05)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # About 11 s where iperf3 waits for its messages, and 40 s more where it asks in a loop.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 30


@pytest.mark.slow
def test_the_encrypted_group_handshake_of_wpa_is_counted(testbed: Linux) -> None:
    job = Job("wpa", "wpa-psk-tkip", phy="802.11g", rate_mbps=54.0, flow=JOIN, probe=False)
    # Four messages of the pairwise handshake and two of the group handshake, which is encrypted.
    assert rows(testbed.carry_out(job))["authentication_messages"] == 6


@pytest.mark.slow
def test_five_stations_share_the_air(testbed: Linux) -> None:
    names = tuple("ABCDE")
    job = Job(
        "five", "open", names, phy="802.11a", channel=36, rate_mbps=54.0, flow=UDP, probe=False
    )
    measured = testbed.carry_out(job)
    assert measured.failure is None, measured.failure
    each = {
        row.station: row.value
        for row in measured.rows
        if row.metric == "throughput_bps" and row.station in names
    }
    assert set(each) == set(names)
    # The simulator carries 29.15 Mb/s in all (three trials of 3 s, 0.19 between them).
    assert sum(each.values()) == pytest.approx(29.15e6, rel=0.05)


def trial_of(
    scenario: dict[str, object], traffic: dict[str, object], policy: str = "open"
) -> Trial:
    """The first trial of a study of one cell; the baseline has none of its own.

    In the simulator both ends have the TCP of Linux.
    """
    ends = {"stations": [{"name": "A", "profile": "linux"}], "server": {"profile": "linux"}}
    study = Study.model_validate(
        {
            "study": {"name": "guest", "title": "Guest", "baseline": "open"},
            "scenario": {"one": {"phy": "802.11a", **ends, **scenario}},
            "traffic": {"load": traffic},
            "grid": {
                "scenario": ["one"],
                "traffic": ["load"],
                "policy": list(dict.fromkeys(["open", policy])),
            },
        }
    )
    plan = make_plan(study)
    return plan.trial(next(cell for cell in plan.cells if cell.policy == policy), 1, 1)


def both(testbed: Linux, trial: Trial) -> tuple[Measured, Measured]:
    """The same trial on the real stack and in the simulator."""
    assert testbed.check(trial.cell) is None
    real, simulated = testbed.measure(trial), Simulator().measure(trial)
    assert real.failure is None, real.failure
    assert simulated.failure is None, simulated.failure
    return real, simulated


def value(measured: Measured, metric: str, station: str | None = None) -> float:
    """The value of a metric over the whole time: of a station, or the first row of it."""
    return next(
        row.value
        for row in measured.rows
        if row.metric == metric and row.second is None and station in (None, row.station)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tunnels", "negotiated", "messages"),
    [
        (
            "wireguard+ipsec-aes-gcm",
            "wireguard inside ikev2 esp aes-gcm none",
            {"messages_wireguard": 2, "messages_ikev2": 4},
        ),
        (
            "ipsec-3des-sha1+wireguard",
            "ikev1 esp 3des sha1 inside wireguard",
            {"messages_wireguard": 2, "messages_ikev1": 9},
        ),
        ("wireguard+wireguard", "wireguard inside wireguard", {"messages_wireguard": 4}),
    ],
)
def test_tunnels_inside_each_other_have_the_octets_of_the_simulator(
    testbed: Linux, tmp_path: Path, tunnels: str, negotiated: str, messages: dict[str, int]
) -> None:
    load: dict[str, object] = {"transport": "udp", "payload_bytes": 1200, "offered_mbps": 30.0}
    scenario = {"rate_mbps": 24.0, "authenticate": True}
    trial = trial_of(scenario, {**load, "duration_s": 1.0}, f"wpa2-psk-ccmp+{tunnels}")
    real = testbed.measure(trial, tmp_path / "real")
    simulated = Simulator().measure(trial, tmp_path / "simulated")
    assert real.failure is None, real.failure
    assert value(real, "throughput_bps") == pytest.approx(
        value(simulated, "throughput_bps"), rel=0.02
    )
    folders = [next((tmp_path / which).iterdir()) for which in ("real", "simulated")]
    lengths = []
    for folder, name in zip(folders, ("air.pcap", "air.pcapng"), strict=True):
        frames = capture_frames([folder / name], key_logs=[folder / "keys.json"])
        opened = Counter(len(frame.plain) for frame in frames if frame.plain is not None)
        ((octets, count),) = opened.most_common(1)
        assert count > 1000
        lengths.append(octets)
    assert lengths[0] == lengths[1]
    # Those of the inner tunnel, too, are seen: inside ESP, or on the outer tunnel's interface.
    assert {metric: value(real, metric) for metric in messages} == messages
    outcome = json.loads((folders[0] / "outcome.json").read_text())
    assert outcome["negotiated"]["A"]["tunnel"] == negotiated
    inner, outer = outcome["conditions"]["tunnel_octets"]["A"]
    assert 1000 * 1228 < inner < outer


#: Traffic -> how far the real stack may be from the simulator, and in which metrics.
APPLICATIONS: dict[str, tuple[dict[str, object], float, tuple[str, ...]]] = {
    "http": (
        {"application": "http", "request_bytes": 300, "response_bytes": 10_000},
        0.05,
        ("throughput_bps", "response_time_s"),
    ),
    "rpc": (
        {"application": "request-response", "request_bytes": 64, "response_bytes": 1000},
        0.08,
        ("throughput_bps", "response_time_s"),
    ),
    "ftp": ({"application": "ftp"}, 0.02, ("throughput_bps",)),
    "download": (
        {"application": "ftp", "direction": "down", "transfer_bytes": 1_000_000},
        0.1,
        ("throughput_bps", "transfer_delay_s"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_takes_the_time_that_it_takes_in_the_simulator(
    testbed: Linux, name: str
) -> None:
    load, bound, metrics = APPLICATIONS[name]
    times = {"duration_s": 1.5, "warm_up_s": 0.5}
    if "transfer_bytes" in load:
        times = {"duration_s": 3.0}
    real, simulated = both(
        testbed, trial_of({"rate_mbps": 54.0}, {"transport": "tcp", **times, **load})
    )
    for metric in metrics:
        assert value(real, metric) == pytest.approx(value(simulated, metric), rel=bound), metric


CALL: dict[str, object] = {"transport": "udp", "application": "voip"}


@pytest.mark.slow
def test_a_path_of_three_access_points(testbed: Linux) -> None:
    moves = {"path": [2, 3, 1], "at_s": 0.5, "every_s": 0.7}
    scenario = {"rate_mbps": 24.0, "authenticate": True, "handover": moves}
    trial = trial_of(scenario, {**CALL, "duration_s": 3.0}, "wpa2-psk-ccmp")
    real, simulated = both(testbed, trial)
    assert value(real, "handovers") == value(simulated, "handovers") == 3
    seconds = [row.second for row in real.rows if row.metric == "handover_gap_s"]
    assert seconds == [0, 1, 1, None]
    assert value(simulated, "handover_association_s") < value(real, "handover_association_s")
    assert value(real, "handover_gap_s") < 0.3
    # Of 150 packets one is lost at each hand-over. A station that forgets its neighbours there
    # sends nothing for a second, and loses at the next hand-over what waits.
    lost = {row.flow: row.value for row in real.rows if row.metric == "loss_ratio"}
    assert lost["A:up"] < 0.05
    assert lost["A:down"] < 0.05


@pytest.mark.parametrize(
    ("policy", "chain", "messages"),
    [
        pytest.param("wpa2-eap-tls-ccmp", "rsa2048", 14, marks=pytest.mark.slow),
        ("wpa2-eap-peap-ccmp", "rsa2048", 18),
        pytest.param("wpa2-eap-ttls-ccmp", "rsa2048", 12, marks=pytest.mark.slow),
        pytest.param("wpa3-eap-tls-gcmp-256", "p256", 10, marks=pytest.mark.slow),
        pytest.param("wpa3-eap-tls-gcmp-256", "rsa2048", 14, marks=pytest.mark.slow),
    ],
)
def test_joins_with_tls_1_3(
    testbed: Linux, tmp_path: Path, policy: str, chain: str, messages: int
) -> None:
    job = Job("tls", policy, phy="802.11g", rate_mbps=24.0, flow=None, tls="1.3", chain=chain)
    measured = testbed.carry_out(job, tmp_path)
    assert rows(measured)["messages_radius"] == messages
    told = json.loads((tmp_path / "outcome.json").read_text())["negotiated"]["A"]
    assert told["eap_tls_version"] == "TLSv1.3"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_a_marked_flow_has_its_access_category(testbed: Linux, tmp_path: Path) -> None:
    load: dict[str, object] = {"transport": "udp", "duration_s": 0.5, "wmm": "voice"}
    trial = trial_of({"phy": "802.11n", "mcs": 0}, load)
    simulated = Simulator().measure(trial)
    real = testbed.carry_out(evolve(job_of(trial), capture_traffic=True), tmp_path)
    assert real.failure is None, real.failure
    ratio = value(real, "throughput_bps") / value(simulated, "throughput_bps")
    assert ratio == pytest.approx(1, abs=0.03)
    # Priorities (table 10-1) of the flow's frames, of its probes and of their answers.
    fields = ["-Y", "wlan.fc.type_subtype == 0x28", "-T", "fields", "-e", "wlan.qos.tid"]
    told = subprocess.run(
        ["tshark", "-r", str(tmp_path / "air.pcap"), *fields],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    tids = Counter(told.stdout.split())
    assert tids["6"] > 0.9 * tids.total() > 200, tids


@pytest.mark.slow
def test_pmf_does_not_keep_a_station_out_that_was_there_before(testbed: Linux) -> None:
    moves = {"at_s": 0.507, "method": "cached-pmk"}
    scenario = {"rate_mbps": 24.0, "authenticate": True, "handover": moves}
    real, _ = both(testbed, trial_of(scenario, {**CALL, "duration_s": 2.0}, "wpa3-sae-ccmp"))
    # An access point that believes the station to be there lets it wait for a second.
    assert value(real, "handover_gap_s") < 0.2


@pytest.mark.slow
def test_the_first_fast_transition_finds_its_key(testbed: Linux) -> None:
    moves = {"at_s": 0.3, "path": [2, 3], "every_s": 0.3, "method": "fast-transition"}
    scenario = {"rate_mbps": 24.0, "authenticate": True, "handover": moves}
    trial = trial_of(scenario, {**CALL, "duration_s": 1.0}, "wpa3-ft-sae-ccmp")
    real, _ = both(testbed, trial)
    each = [row.value for row in real.rows if row.metric == "handover_association_s"]
    # mac80211 associates at its next tick of 10 ms. An access point without the key would let the
    # first request wait for its repetition, 0.1 s later.
    assert len(each) == 3
    assert max(each) < 0.02


@pytest.mark.slow
def test_radius_proxies_take_the_time_of_their_cables(testbed: Linux) -> None:
    radius = {"delay_ms": 5.0, "proxies": [{"delay_ms": 10.0}, {"delay_ms": 20.0}]}
    scenario = {"rate_mbps": 24.0, "authenticate": True, "radius": radius}
    load: dict[str, object] = {"transport": "udp", "offered_mbps": 1.0, "duration_s": 0.5}
    real, simulated = both(testbed, trial_of(scenario, load, "wpa2-eap-peap-ccmp"))
    # Every round trip takes 70 ms of cables.
    for measured in (real, simulated):
        rounds = value(measured, "messages_radius") // 2
        assert value(measured, "eap_time_s") == pytest.approx(0.07 * rounds, rel=0.02)
    assert value(real, "eap_time_s") == pytest.approx(value(simulated, "eap_time_s"), rel=0.01)


@pytest.mark.slow
def test_deauthenticated_stations_rejoin(testbed: Linux) -> None:
    scenario = {
        "rate_mbps": 24.0,
        "authenticate": True,
        "stations": [{"name": "A"}, {"name": "B"}],
        "join": {"deauthenticate_at_s": 0.5},
    }
    load: dict[str, object] = {"transport": "udp", "offered_mbps": 1.0, "duration_s": 2.0}
    real, simulated = both(testbed, trial_of(scenario, load, "wpa2-psk-ccmp"))
    for station in ("A", "B"):
        assert value(real, "rejoins", station) == value(simulated, "rejoins", station) == 1
        # wpa_supplicant waits for 100 ms, and scans one channel.
        assert 0.1 <= value(real, "rejoin_gap_s", station) < 0.3


@pytest.mark.slow
def test_a_walk_leaves_by_the_level(testbed: Linux) -> None:
    scenario = {
        "rate_mbps": 6.0,
        "authenticate": True,
        "stations": [{"name": "A", "position_m": [5.0, 0.0]}],
        "handover": {
            "walk": {"to_m": [60.0, 0.0], "speed_m_s": 12.0},
            "next_ap_m": [60.0, 0.0],
            "again_s": 0.2,
        },
    }
    trial = trial_of(scenario, {**CALL, "duration_s": 4.5}, "wpa2-psk-ccmp")
    real, simulated = both(testbed, trial)
    # A search begins 0.2 s after the one before it, 2.4 m further on. Levels are whole dBm.
    for metric, bound in (
        ("handover_left_s", 0.6),
        ("handover_old_level_dbm", 4.0),
        ("handover_new_level_dbm", 4.0),
    ):
        assert value(real, metric) == pytest.approx(value(simulated, metric), abs=bound), metric


@pytest.mark.slow
def test_simulated_stations_share_the_air_with_a_real_one(testbed: Linux) -> None:
    """Ten saturated stations carry 27.45 Mb/s in the simulator (`benchmarks/crowd.toml`)."""
    job = Job(
        "crowd",
        "open",
        phy="802.11a",
        channel=36,
        rate_mbps=54.0,
        flow=Flow(transport="udp", payload_octets=1472, duration_s=2.0),
        probe=False,
        simulated=tuple(f"S{number}" for number in range(1, 10)),
    )
    measured = testbed.carry_out(job)
    assert measured.failure is None, measured.failure
    throughput = {r.station: r.value for r in measured.rows if r.metric == "throughput_bps"}
    assert len(throughput) == 1 + 9 + 1
    assert throughput[None] == pytest.approx(27.45e6, rel=0.03)
    # Its share of 2 s varies as those of the others do.
    assert throughput["A"] == pytest.approx(2.745e6, rel=0.4)
    assert any("9 of 10 stations were simulated" in caveat for caveat in measured.caveats)
    assert not any("no radio throughput" in caveat for caveat in measured.caveats)


@pytest.mark.slow
def test_a_station_joins_while_simulated_ones_fill_the_air(testbed: Linux) -> None:
    def join_s(simulated: int) -> dict[str | None, float]:
        names = tuple(f"S{number}" for number in range(1, simulated + 1))
        job = Job(
            f"join-beside-{simulated}",
            "wpa2-psk-ccmp",
            phy="802.11a",
            channel=36,
            rate_mbps=54.0,
            flow=Flow(transport="udp", payload_octets=1472, duration_s=2.0),
            probe=False,
            simulated=names,
            joins_at_s=(("A", 0.5),),
        )
        measured = testbed.carry_out(job)
        assert measured.failure is None, measured.failure
        return {r.station: r.value for r in measured.rows if r.metric == "join_time_s"}

    alone, beside = join_s(0), join_s(30)
    # mac80211 begins to associate at its next tick of 10 ms; the frames take 1 ms.
    assert alone["A"] == pytest.approx(0.0105, abs=0.002)
    assert beside["A"] > 2 * alone["A"]
    assert beside[None] == beside["A"]
