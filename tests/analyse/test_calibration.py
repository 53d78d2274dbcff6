import numpy as np
import pytest

from airtoll.analyse.calibration import Observed, Parameter, calibrate
from airtoll.errors import UsageError

#: cell -> (air time per frame us, octets, cipher?) of a toy host whose costs add to the air
CELLS = {
    f"{size}/{policy}": (300 + size / 10, size, policy != "open")
    for size in (64, 256, 512, 1024, 1472)
    for policy in ("open", "ccmp")
}
TRUE = {"frame_us": 40.0, "octet_ns": 60.0, "cipher_us": 25.0}


def throughput(values, cells):
    found = []
    for cell in cells:
        air, size, secured = CELLS[cell]
        time = air + values["frame_us"] + values["octet_ns"] * size / 1e3
        time += values["cipher_us"] if secured else 0.0
        found.append(8 * size / time * 1e6)
    return found


def readings(cells, rng, noise=0.004, n=10):
    return [
        Observed(c, tuple(rng.normal(m, noise * m, n)), "bit/s")
        for c, m in zip(cells, throughput(TRUE, cells), strict=True)
    ]


PARAMETERS = (
    Parameter("frame_us", 10.0, unit="us"),
    Parameter("octet_ns", 10.0, unit="ns"),
    Parameter("cipher_us", 5.0, unit="us"),
)
SEEN = ["64/open", "512/open", "1472/open", "256/ccmp", "1024/ccmp"]
HELD = [c for c in CELLS if c not in SEEN]


def test_true_parameters_come_back():
    rng = np.random.default_rng(2)
    result = calibrate(
        readings(SEEN, rng), readings(HELD, rng), PARAMETERS, throughput, rng, model_error=0.002
    )
    for name, value in TRUE.items():
        estimate = result.parameters[name]
        assert estimate.value == pytest.approx(value, rel=0.25)
        assert estimate.low < value < estimate.high
    assert {p.cell for p in result.held_out} == set(HELD)


def test_held_out_cells_are_covered():
    covered = total = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        result = calibrate(
            readings(SEEN, rng), readings(HELD, rng), PARAMETERS, throughput, rng, model_error=0.002
        )
        covered += sum(p.inside for p in result.held_out)
        total += len(result.held_out)
    assert covered / total >= 0.9


def test_same_seed_same_answer():
    def once():
        rng = np.random.default_rng(7)
        return calibrate(readings(SEEN, rng), [], PARAMETERS, throughput, rng)

    assert once() == once()


def test_what_cannot_be_fitted_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="fitted and held out"):
        calibrate(readings(SEEN, rng), readings(SEEN[:1], rng), PARAMETERS, throughput, rng)
    with pytest.raises(UsageError, match="as many observed cells"):
        calibrate(readings(SEEN[:2], rng), [], PARAMETERS, throughput, rng)
    open_only = [c for c in CELLS if c.endswith("open")]
    with pytest.raises(UsageError, match="do not determine"):
        calibrate(readings(open_only, rng), [], PARAMETERS, throughput, rng)
    with pytest.raises(UsageError, match="at least one"):
        calibrate(readings(SEEN, rng), [], (), throughput, rng)


def test_a_cost_that_the_air_hides_is_still_found():
    """Throughput is the lesser of air and host: flat where the fit starts."""

    def bottleneck(values, cells):
        found = []
        for cell in cells:
            air, size, secured = CELLS[cell]
            host = values["host_us"] + (values["cipher_us"] if secured else 0.0)
            found.append(8 * size / max(air, host) * 1e6)
        return found

    true = {"host_us": 900.0, "cipher_us": 200.0}
    rng = np.random.default_rng(5)

    def seen(cells):
        means = bottleneck(true, cells)
        return [
            Observed(c, tuple(rng.normal(m, 0.004 * m, 10)), "bit/s")
            for c, m in zip(cells, means, strict=True)
        ]

    result = calibrate(
        seen(SEEN),
        seen(HELD),
        (Parameter("host_us", 10.0, unit="us"), Parameter("cipher_us", 10.0, unit="us")),
        bottleneck,
        rng,
    )
    assert result.parameters["host_us"].value == pytest.approx(900, rel=0.02)
    assert result.parameters["cipher_us"].value == pytest.approx(200, rel=0.05)
    assert result.coverage >= 0.8
