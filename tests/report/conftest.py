"""A testbed with a whole ledger, for reports that have everything in them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from airtoll.plan import Cell, Trial
from airtoll.testbeds.contract import Measured, Row, Skip


class LedgerTestbed:
    """Books two seconds of air per trial; every secured octet costs air, and ciphers cost idle air.

    Deterministic, and of no use but to see how a report treats what it is given.
    """

    name = "fake"
    parallel = True

    def check(self, cell: Cell) -> Skip | None:
        return Skip("the fake knows no WEP-40") if cell.policy == "wep-40" else None

    def cautions(self, cell: Cell) -> tuple[()]:
        return ()

    def expected_s(self, cell: Cell) -> float:
        return 0.001

    def measure(self, trial: Trial, captures: Path | None = None) -> Measured:
        added = trial.cell.security.octets_per_mpdu + trial.cell.security.octets_per_msdu
        draw = random.Random(trial.seed)
        frame_s = (400 + 0.2 * added) / 1e6 * (1 + draw.gauss(0, 0.002))
        frames = 2.0 / frame_s
        speed = 8 * 1472 * frames / 2.0
        parts = {
            "payload": frames * 1472 * 8 / 54e6,
            "security": frames * added * 8 / 54e6,
            "ip_transport": frames * 36 * 8 / 54e6,
            "ack": frames * 44e-6,
            "management": 0.01 + 0.001 * (added > 0),
            "idle": frames * 0.05e-6 * added,
        }
        parts["contention"] = 2.0 - sum(parts.values())
        rows = [
            Row("throughput_bps", speed, "bit/s"),
            *(Row(f"airtime_{part}_s", value, "s") for part, value in parts.items()),
            Row("association_time_s", abs(draw.gauss(2e-3, 1e-4)), "s", station="A"),
            *(
                Row("throughput_bps", speed * (1 + draw.gauss(0, 0.01)), "bit/s", second=second)
                for second in range(2)
            ),
        ]
        if added:
            rows.append(Row("key_handshake_time_s", abs(draw.gauss(9e-3, 3e-4)), "s", station="A"))
        return Measured(rows=tuple(rows))

    def environment(self) -> dict[str, str]:
        return {"fake": "1"}

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture
def ledger() -> type:
    return LedgerTestbed


class EverythingTestbed(LedgerTestbed):
    """Gives every metric that a study can ask for, so that a whole shipped study runs in seconds.

    Values follow from the cell and the seed; they mean nothing.
    """

    def check(self, cell: Cell) -> Skip | None:
        """Everything runs."""

    def measure(self, trial: Trial, captures: Path | None = None) -> Measured:
        cell, draw = trial.cell, random.Random(trial.seed)
        policy = cell.security
        added = policy.octets_per_mpdu + policy.octets_per_msdu + 40 * len(policy.tunnels)
        frame_s = (400 + 0.2 * added) / 1e6 * (1 + draw.gauss(0, 0.002))
        speed = 8 * 1472 / frame_s
        clients = cell.settings.clients or len(cell.settings.stations)
        joining = 0.02 + 0.001 * added + 0.3 * (policy.link.eap_method is not None)
        rows = [
            Row("throughput_bps", speed, "bit/s"),
            Row("loss_ratio", 0.01, "1"),
        ]
        for name in [station.name for station in cell.settings.stations][:3]:
            rows += [
                Row("throughput_bps", speed / clients, "bit/s", flow=f"{name}-up", station=name),
                Row("delay_s", abs(draw.gauss(2e-3, 1e-4)), "s", flow=f"{name}-up", station=name),
                Row("jitter_s", abs(draw.gauss(1e-4, 1e-5)), "s", flow=f"{name}-up", station=name),
                Row("response_time_s", abs(draw.gauss(3e-3, 1e-4)), "s", flow=f"{name}-up",
                    station=name),
                Row("association_time_s", abs(draw.gauss(2e-3, 1e-4)), "s", station=name),
                Row("negotiation_time_s", abs(draw.gauss(joining, 1e-3)), "s", station=name),
                Row("eap_time_s", abs(draw.gauss(joining, 1e-3)), "s", station=name),
            ]  # fmt: skip
        if clients > 1:
            got_on = clients - (clients > 400)
            rows += [
                Row("join_all_time_s", abs(draw.gauss(1 + joining * clients, 0.02)), "s"),
                Row("stations_joined", got_on, "1"),
                Row("joined_ratio", got_on / clients, "1"),
            ]
        else:
            rows.append(Row("join_all_time_s", abs(draw.gauss(joining, 1e-3)), "s"))
        if cell.settings.handover is not None:
            rows += [
                Row("handover_gap_s", abs(draw.gauss(joining, 1e-3)), "s", station="phone"),
                Row("handover_association_s", joining / 2, "s", station="phone"),
                Row("handover_wait_s", joining / 2, "s", station="phone"),
                Row("handover_packets_lost", float(draw.randrange(3)), "1", station="phone"),
            ]
        return Measured(rows=tuple(rows))


@pytest.fixture(scope="session")
def everything() -> type:
    return EverythingTestbed
