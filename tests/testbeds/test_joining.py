"""Stations that join in simulated time, from the study file to the rows of a trial."""

from __future__ import annotations

import pytest
from attrs import evolve

from airtoll.plan import Cell, Trial
from airtoll.policies import resolve
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

TRAFFIC = {"transport": "udp", "offered_mbps": 0.5, "payload_bytes": 500, "duration_s": 0.2}


def cell(policy: str, **settings: object) -> Cell:
    return Cell(
        scenario="s",
        policy=resolve(policy).name,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate({"authenticate": True, **settings}),
        load=Traffic.model_validate(TRAFFIC),
    )


def measured(of: Cell, seed: int = 1):
    return Simulator().measure(Trial(cell=of, number=1, attempt=1, seed=seed))


def values(of: Cell, seed: int = 1) -> dict[str, float]:
    trial = measured(of, seed)
    assert trial.failure is None
    return {row.metric: row.value for row in trial.rows if row.station in ("A", "mobile")}


@pytest.mark.parametrize(
    ("policy", "metrics"),
    [
        ("open", {"association_time_s"}),
        ("wpa3-sae-ccmp", {"association_time_s", "key_handshake_time_s"}),
        ("wpa2-eap-tls-ccmp", {"eap_time_s", "key_handshake_time_s", "messages_radius"}),
        ("8021x-tls+wep-104", {"eap_time_s", "messages_radius"}),
        ("wpa2-psk-ccmp+wireguard", {"messages_wireguard", "negotiation_time_s"}),
        ("wpa2-psk-ccmp+openvpn", {"messages_openvpn", "negotiation_time_s"}),
        ("ipsec-3des-sha1", {"messages_ikev1", "negotiation_time_s"}),
    ],
)
def test_a_policy_negotiates_what_it_is_made_of(policy: str, metrics: set[str]) -> None:
    found = values(cell(policy))
    assert metrics <= found.keys()
    assert 0 < found["association_time_s"] < found["join_time_s"] < 1


def test_a_token_costs_sae_two_messages() -> None:
    plain, asked = (
        values(cell("wpa3-sae-ccmp", join={"anti_clogging": wanted})) for wanted in (False, True)
    )
    # The refusal with the token, and the commit that brings it back.
    for metric in ("authentication_messages", "messages_ieee80211"):
        assert asked[metric] == plain[metric] + 2
    assert asked["messages_eapol_key"] == plain["messages_eapol_key"]
    assert asked["association_time_s"] > plain["association_time_s"]


def test_tokens_from_a_number_of_open_sessions_cost_a_lone_station_nothing() -> None:
    join = {"anti_clogging": True, "anti_clogging_threshold": 5}
    alone = values(cell("wpa3-sae-ccmp", join=join))
    assert alone["messages_ieee80211"] == values(cell("wpa3-sae-ccmp"))["messages_ieee80211"]
    crowd = measured(cell("wpa3-sae-ccmp", clients=30, join=join))
    counts = [row.value for row in crowd.rows if row.metric == "messages_ieee80211" and row.station]
    # Some are asked for a token, which is two messages more.
    assert {6.0, 8.0} <= set(counts)


def test_tokens_are_for_sae() -> None:
    skip = Simulator().check(cell("wpa2-psk-ccmp", join={"anti_clogging": True}))
    assert skip is not None
    assert "no SAE" in skip.reason
    still = cell("wpa3-sae-ccmp", join={"anti_clogging": True}, authenticate=False)
    skip = Simulator().check(still)
    assert skip is not None
    assert "authenticate = true" in skip.reason


def test_mobile_ip_registers_abroad_through_the_foreign_agent() -> None:
    stations = [{"name": "mobile"}]
    join = {"mobile_ip": "foreign"}
    found = values(cell("ipsec-3des-sha1", topology="r2", stations=stations, join=join))
    # Solicitation and advertisement, then request and reply through the agent.
    assert found["messages_mobile_ip"] == 6
    assert found["messages_ikev1"] == 9


def test_a_slow_server_and_its_controller_delay_the_exchange() -> None:
    near = values(cell("wpa2-eap-peap-ccmp"))
    radius = {"requests_per_s": 10, "controller": "ideal", "delay_ms": 20}
    far = values(cell("wpa2-eap-peap-ccmp", radius=radius))
    trips = near["messages_radius"] / 2
    more = far["eap_time_s"] - near["eap_time_s"]
    assert more == pytest.approx(trips * 0.14, rel=0.02)


@pytest.mark.parametrize(
    ("policy", "fault", "said"),
    [
        ("wpa2-psk-ccmp", "wrong-passphrase", "reason code 15"),
        ("wpa2-eap-tls-ccmp", "wrong-certificate", "certificate"),
        ("wpa2-eap-peap-ccmp", "silent-server", "did not answer"),
        ("open+openvpn", "wrong-passphrase", "refused the credentials"),
        ("wpa3-sae-ccmp+openvpn", "wrong-certificate", "certificate"),
    ],
)
def test_a_failed_join_is_named_and_has_no_throughput(policy, fault, said) -> None:
    trial = measured(cell(policy, join={"fault": fault}))
    assert trial.failure is not None
    assert trial.failure.startswith("A did not authenticate")
    assert said in trial.failure
    assert not any(row.metric == "throughput_bps" for row in trial.rows)


@pytest.mark.parametrize("tls", ["1.2", "1.3"])
@pytest.mark.parametrize("method", ["tls", "peap", "ttls"])
def test_a_resumed_tls_session_spares_messages_octets_and_work(method: str, tls: str) -> None:
    radius = {"profile": "xeon-2.1ghz"}
    full, short = (
        values(
            cell(
                f"wpa2-eap-{method}-ccmp",
                radius=radius,
                join={"tls": tls, "tls_resumption": resumed},
            )
        )
        for resumed in (False, True)
    )
    # Identity, ClientHello, the station's Finished; then PEAP's result, or what TLS 1.3 asks for.
    asked = 3 if tls == "1.2" and method != "peap" else 4
    assert short["messages_radius"] == 2 * asked < full["messages_radius"]
    assert short["eap_time_s"] < full["eap_time_s"] / 2
    assert short["messages_eapol_key"] == full["messages_eapol_key"]


@pytest.mark.parametrize(
    ("policy", "settings", "said"),
    [
        ("wpa2-psk-ccmp", {}, "no TLS"),
        ("wpa2-eap-tls-ccmp", {"authenticate": False}, "authenticate = true"),
        ("wpa2-eap-tls-ccmp", {"join": {"cached_pmk": True}}, "leaves EAP out"),
        ("wpa2-eap-peap-ccmp", {"join": {"fault": "wrong-passphrase"}}, "shows neither"),
    ],
)
def test_a_session_without_a_method_that_resumes_it_is_refused(
    policy: str, settings: dict[str, object], said: str
) -> None:
    join = {"tls_resumption": True, **settings.pop("join", {})}
    skip = Simulator().check(cell(policy, join=join, **settings))
    assert skip is not None
    assert said in skip.reason


def test_a_gateway_under_load_costs_wireguard_two_messages_and_five_seconds() -> None:
    policy = "wpa2-psk-ccmp+wireguard"
    joins = [{}, {"cookies": True}, {"cookies": True, "cookie_threshold": 50}]
    plain, asked, few = (values(cell(policy, clients=3, join=join)) for join in joins)
    assert plain["messages_wireguard"] == few["messages_wireguard"] == 3
    assert asked["messages_wireguard"] == 5
    assert 5 < asked["join_time_s"] < 5.5
    assert few["join_time_s"] == plain["join_time_s"] < 0.5


def test_a_bound_tunnel_costs_octets_and_no_message() -> None:
    plain, bound = (
        values(cell("wpa2-eap-peap-ccmp", join={"cryptobinding": wanted}))
        for wanted in (False, True)
    )
    assert bound["authentication_messages"] == plain["authentication_messages"]
    assert bound["eap_time_s"] > plain["eap_time_s"]


@pytest.mark.parametrize(
    ("policy", "settings", "said"),
    [
        ("wpa2-psk-ccmp", {"join": {"cookies": True}}, "no WireGuard"),
        ("wireguard", {"join": {"cookies": True}, "authenticate": False}, "authenticate = true"),
        ("wpa2-eap-tls-ccmp", {"join": {"cryptobinding": True}}, "no PEAP"),
    ],
)
def test_cookies_and_bound_tunnels_without_their_protocol_are_refused(
    policy: str, settings: dict[str, object], said: str
) -> None:
    skip = Simulator().check(cell(policy, **settings))
    assert skip is not None
    assert said in skip.reason


def test_the_192_bit_mode_takes_no_rsa_key_transport() -> None:
    policy = "wpa3-eap-tls-gcmp-256"
    skip = Simulator().check(cell(policy, join={"tls": "1.2-rsa"}))
    assert skip is not None
    assert "ECDHE" in skip.reason
    radius = {"profile": "xeon-2.1ghz"}
    usual, strong = (
        values(cell(name, radius=radius, join={"chain": "p256"}))
        for name in ("wpa2-eap-tls-ccmp", policy)
    )
    # ECDHE and ECDSA on P-384 instead of P-256.
    assert strong["eap_time_s"] > usual["eap_time_s"] + 5e-3


def test_without_authenticate_nothing_is_added() -> None:
    plain = scenario(cell("wpa2-eap-tls-ccmp", authenticate=False))
    assert plain.associations == ()
    assert [node.name for node in plain.nodes] == ["A", "ap", "server"]


def test_new_group_keys_take_two_messages_a_station_and_round() -> None:
    many = cell("wpa2-psk-ccmp", clients=7, join={"group_rekey_s": 0.05})
    trial = measured(many)
    assert trial.failure is None
    whole = {row.metric: row.value for row in trial.rows if row.station is None}
    assert whole["group_rekeys"] == 3
    assert whole["group_rekey_messages"] == 2 * 7 * whole["group_rekeys"]
    assert 1e-4 < whole["group_rekey_time_s"] <= whole["group_rekey_longest_s"] < 0.05
    never = measured(cell("wpa2-psk-ccmp", clients=7))
    assert not [row for row in never.rows if row.metric.startswith("group_rekey")]


def test_a_station_that_leaves_makes_the_old_access_point_renew_its_keys() -> None:
    settings = {
        "clients": 3,
        "handover": {"at_s": 0.05},
        "join": {"group_rekey_on_leave": True},
    }
    of = cell("wpa2-psk-ccmp", **settings)
    longer = evolve(of, load=of.load.model_copy(update={"duration_s": 1.0}))
    trial = measured(longer)
    assert trial.failure is None
    whole = {row.metric: row.value for row in trial.rows if row.station is None}
    # The two that stay.
    assert (whole["group_rekeys"], whole["group_rekey_messages"]) == (1, 4)


def test_a_deauthenticated_cell_rejoins_during_the_traffic() -> None:
    of = cell("wpa3-sae-ccmp", clients=3, join={"deauthenticate_at_s": 0.1})
    longer = evolve(of, load=of.load.model_copy(update={"duration_s": 2.0}))
    trial = measured(longer)
    assert trial.failure is None
    whole = {row.metric: row.value for row in trial.rows if row.station is None}
    assert (whole["associations_lost"], whole["rejoins"]) == (3, 3)
    # At once, or after SA Query where the frame was missed.
    assert 0.1 < whole["rejoin_gap_s"] <= whole["rejoin_gap_longest_s"] < 1.3
    gaps = [row.value for row in trial.rows if row.metric == "rejoin_gap_s" and row.station]
    assert len(gaps) == 3
    still = cell("open", authenticate=False, join={"deauthenticate_at_s": 0.1})
    skip = Simulator().check(still)
    assert skip is not None
    assert "authenticate = true" in skip.reason


@pytest.mark.parametrize(
    ("policy", "settings", "words"),
    [
        ("open", {}, "open has no group key handshake"),
        ("wep-104", {}, "wep-104 has no group key handshake"),
        ("8021x-md5", {}, "no group key handshake"),
        ("wpa2-psk-ccmp", {"authenticate": False}, "authenticate = true"),
        (
            "wpa2-psk-ccmp",
            {"stations": [{"name": "A"}, {"name": "B", "policy": "wep-104"}]},
            "wep-104 has no group key handshake",
        ),
    ],
)
def test_group_keys_are_renewed_only_where_there_are_any(
    policy: str, settings: dict[str, object], words: str
) -> None:
    skip = Simulator().check(cell(policy, join={"group_rekey_s": 1.0}, **settings))
    assert skip is not None
    assert words in skip.reason


LATE: list[dict[str, object]] = [{"name": "B"}, {"name": "C"}, {"name": "A", "joins_at_s": 0.05}]


def test_a_join_during_traffic_takes_longer_than_in_an_idle_cell() -> None:
    def mean(load: dict[str, object]) -> float:
        of = evolve(
            cell("wpa3-sae-ccmp", stations=LATE),
            load=Traffic.model_validate({**TRAFFIC, "duration_s": 0.4, **load}),
        )
        return sum(values(of, seed)["join_time_s"] for seed in range(1, 6)) / 5

    assert mean({"offered_mbps": None}) > 1.5 * mean({"offered_mbps": 0.002})


def test_flows_of_a_newcomer_count_from_its_join_and_the_cell_from_the_start() -> None:
    trial = measured(cell("wpa2-psk-ccmp", stations=LATE))
    rows = {(row.metric, row.station): row.value for row in trial.rows}
    joined_s = 0.05 + rows["join_time_s", "A"]
    assert rows["measured_s", "A"] == pytest.approx(0.2 - joined_s, abs=1e-9)
    assert ("measured_s", "B") not in rows
    octets = rows["packets_received", "A"] * 500
    assert rows["throughput_bps", "A"] == pytest.approx(8 * octets / (0.2 - joined_s))
    whole = sum(rows["packets_received", name] for name in "ABC") * 500
    assert rows["throughput_bps", None] == pytest.approx(8 * whole / 0.2)
    # The cell's join is the newcomer's.
    assert rows["join_time_s", None] == rows["join_time_s", "A"]
    assert rows["stations_joined", None] == 3


def test_a_transfer_of_a_newcomer_is_rated_over_its_own_time() -> None:
    of = evolve(
        cell("wpa2-psk-ccmp", stations=LATE),
        load=Traffic.model_validate(
            {"transport": "tcp", "transfer_bytes": 20_000, "duration_s": 2}
        ),
    )
    rows = {(row.metric, row.station): row.value for row in measured(of).rows}
    assert rows["throughput_bps", "A"] * rows["transfer_delay_s", "A"] == pytest.approx(160_000)
    flows = sum(rows["throughput_bps", name] for name in "ABC")
    assert rows["throughput_bps", None] == pytest.approx(flows)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"authenticate": False}, "authenticate = true"),
        ({"group_load": {"mdns_per_min": 6}}, "group_load"),
        ({"join": {"spread_ms": 150}}, "after the traffic's end"),
        (
            {"handover": {"at_s": 0.1, "stations": 3}, "stations": LATE},
            "a station that hands over joins before",
        ),
        ({"topology": "r1", "stations": [LATE[-1]]}, "two domains"),
    ],
)
def test_joins_during_traffic_that_cannot_be_are_skipped(
    settings: dict[str, object], words: str
) -> None:
    skip = Simulator().check(cell("wpa2-psk-ccmp", **{"stations": LATE, **settings}))
    assert skip is not None
    assert words in skip.reason
