"""``airtoll ciphers``: vectors, costs and profiles of this machine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from airtoll import _native as native
from airtoll.cli.app import app
from airtoll.cli.ciphers import CipherCost, Cost, fit, median_cost, profile_text
from airtoll.errors import AirtollError
from airtoll.profiles.load import load_file, shipped

pytest.importorskip("airtoll._native", reason="the native module is not built")


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["ciphers", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_every_vector_passes_and_names_its_source() -> None:
    report = json.loads(run("verify", "--json"))
    assert len(report["vectors"]) > 20
    assert all(row["passed"] and len(row["source"]) > 5 for row in report["vectors"])
    assert "portable" in report["engines"]
    assert f"{len(report['vectors'])} of {len(report['vectors'])}" in run("verify")


def test_bench_measures_what_it_is_asked() -> None:
    report = json.loads(
        run("bench", "--json", "--rounds", "6", "--only", "ccmp-128", "--only", "wireguard")
    )
    modes = [(c["cipher"], c["mode"]) for c in report["ciphers"]]
    assert modes == [
        ("ccmp-128", "single"),
        ("ccmp-128", "capture"),
        ("wireguard", "single"),
    ]
    for cost in report["ciphers"]:
        assert 0 < cost["frame_us"]["64"] < cost["frame_us"]["1500"] < 1000
        assert cost["mbps_per_core"] == pytest.approx(8 * 1500 / cost["frame_us"]["1500"])
        assert cost["keeps_up_he_80"] == (cost["mbps_per_core"] >= 1200.98)
        assert cost["slope_ns"]["low"] <= cost["slope_ns"]["value"] <= cost["slope_ns"]["high"]


def test_a_profile_is_accepted_where_profiles_are(tmp_path: Path) -> None:
    options = ["--rounds", "6", "--only", "ccmp-128", "--only", "wep-104", "--dir", str(tmp_path)]
    run("profile", "here", *options, "--clock-hz", "2e9")
    profile = load_file(tmp_path / "here.toml")
    assert set(profile.cipher) == {"ccmp-128", "wep-104"}
    cost = profile.cipher["ccmp-128"].octet_cycles
    assert cost is not None
    assert cost.value > 0
    assert "ns per octet" in cost.source
    with pytest.raises(AirtollError, match="--force"):
        run("profile", "here", *options)


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    for arguments in (
        ["bench", "--only", "rot13"],
        ["profile", "Not A Name", "--dir", str(tmp_path)],
        ["profile", "x", "--clock-hz", "-1", "--dir", str(tmp_path)],
    ):
        with pytest.raises(AirtollError):
            run(*arguments)
    assert not list(tmp_path.iterdir())


@given(
    fixed=st.floats(0.01, 10),
    slope=st.floats(0.01, 100),
    jitter=st.lists(st.floats(0.9, 1.1), min_size=7),
)
def test_fit_recovers_a_straight_line(fixed: float, slope: float, jitter: list[float]) -> None:
    octets = (64, 256, 1500)
    line = fixed + slope / 1000 * np.array(octets, dtype=float)
    cost = fit("c", "link", "single", octets, np.outer(jitter, line))
    middle = float(np.median(jitter))
    assert cost.fixed_us.value == pytest.approx(fixed * middle, rel=1e-6)
    assert cost.slope_ns.value == pytest.approx(slope * middle, rel=1e-6)
    assert cost.slope_ns.low <= cost.slope_ns.value <= cost.slope_ns.high


def test_interval_ranks_are_those_of_the_binomial_table() -> None:
    """n = 15: ranks 4 and 12 cover 96.5 %; n = 6: the extremes cover 96.9 %."""
    cost = median_cost(np.arange(1.0, 16.0))
    assert (cost.low, cost.value, cost.high) == (4.0, 8.0, 12.0)
    cost = median_cost(np.arange(1.0, 7.0))
    assert (cost.low, cost.value, cost.high) == (1.0, 3.5, 6.0)


def test_a_negative_fixed_cost_is_written_as_zero_and_said(tmp_path: Path) -> None:
    costs = [
        CipherCost("ccmp-128", "link", "single", Cost(-0.1, -0.2, 0.1), Cost(2.0, 1.0, 3.0), {}),
        CipherCost("ccmp-128", "link", "capture", Cost(0.5, 0.4, 0.6), Cost(1.0, 1.0, 1.0), {}),
    ]
    path = tmp_path / "p.toml"
    path.write_text(profile_text(costs, 1e9, "by hand"), "utf-8")
    cipher = load_file(path).cipher["ccmp-128"]
    assert cipher.frame_cycles is not None
    assert cipher.octet_cycles is not None
    assert cipher.frame_cycles.value == 0.0
    assert "taken as zero" in cipher.frame_cycles.source
    assert cipher.octet_cycles.value == pytest.approx(2.0)


OPERATIONS = {
    "x25519-scalar-mul": "AWS-LC" if native.aws_lc else "x25519-dalek",
    "p-521-field-power": "RustCrypto crypto-bigint",
    "ml-kem-512-keygen": "RustCrypto ml-kem",
    "ml-dsa-44-verify": "RustCrypto ml-dsa",
    "rsa-2048-sign": "RustCrypto rsa",
    "rsa-2048-verify": "AWS-LC" if native.aws_lc else "RustCrypto rsa",
}


def test_operations_of_handshakes_are_measured_and_name_their_implementation() -> None:
    only = [option for name in OPERATIONS for option in ("--only", name)]
    report = json.loads(run("bench", "handshakes", "--json", "--rounds", "6", *only))
    named = {row["operation"]: row["implementation"] for row in report["operations"]}
    assert named == OPERATIONS
    for row in report["operations"]:
        for key in ("us", "per_second"):
            assert 0 < row[key]["low"] <= row[key]["value"] <= row[key]["high"]
        rate, cost = row["per_second"], row["us"]
        assert rate["low"] == pytest.approx(1e6 / cost["high"])
        assert rate["high"] == pytest.approx(1e6 / cost["low"])


def test_every_operation_has_a_name_that_profiles_use() -> None:
    """Each operation that a shipped profile prices for public keys is measured here."""
    measured = {subject["name"] for subject in native.handshake_operations()}
    assert {"slh-dsa-sha2-128s-sign", "pbkdf2-iteration", "p-256-field-power"} <= measured
    kinds = ("-sign", "-verify", "-keygen", "-encapsulate", "-decapsulate", "-scalar-mul")
    for name, profile in shipped().items():
        # Falcon is modelled by size: no library here signs with it.
        by_size = "falcon-"
        priced = {o for o in profile.operation if o.endswith(kinds) and not o.startswith(by_size)}
        assert priced <= measured, name


def test_operations_go_into_a_profile(tmp_path: Path) -> None:
    only = ["--only", "wep-104", "--only", "p-256-scalar-mul", "--only", "pbkdf2-iteration"]
    options = ["--rounds", "6", "--clock-hz", "1e9"]
    run("profile", "here", "--handshakes", "--dir", str(tmp_path), *only, *options)
    profile = load_file(tmp_path / "here.toml")
    assert set(profile.cipher) == {"wep-104"}
    assert set(profile.operation) == {"p-256-scalar-mul", "pbkdf2-iteration"}
    text = run("bench", "handshakes", "--toml", *only[2:], *options)
    path = tmp_path / "p.toml"
    path.write_text(
        f'about = "mine"\nclock_hz = {{ value = 1e9, source = "by hand" }}\n{text}', "utf-8"
    )
    printed = load_file(path).operation
    assert set(printed) == set(profile.operation)
    curves = "AWS-LC" if native.aws_lc else "RustCrypto p256"
    libraries = {"p-256-scalar-mul": curves, "pbkdf2-iteration": "RustCrypto pbkdf2"}
    for name, number in printed.items():
        assert number.value > 0
        assert libraries[name] in number.source
        assert "95%" in number.source
        assert ("quick build" in number.source) != native.aws_lc


@pytest.mark.parametrize(
    "arguments",
    [
        ["bench", "joins"],
        ["bench", "--toml"],
        ["bench", "handshakes", "--only", "rot13"],
        ["bench", "handshakes", "--json", "--toml"],
        ["bench", "handshakes", "--clock-hz", "1e9"],
        ["bench", "handshakes", "--toml", "--clock-hz", "-1"],
    ],
)
def test_options_of_operations_that_do_nothing_are_refused(arguments: list[str]) -> None:
    with pytest.raises(AirtollError):
        run(*arguments)
