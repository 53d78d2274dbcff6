"""Captures of key exchanges with ML-KEM, a draft: our reader names them and opens their data."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

POLICIES = {
    "owe-draft-mlkem768-ccmp": "owe-draft-mlkem768",
    "wpa3-sae-draft-mlkem768-gcmp-256": "sae-draft-mlkem768",
}


@pytest.mark.parametrize(("policy", "akm"), POLICIES.items())
def test_the_reader_names_the_draft_and_opens_its_data(
    policy: str, akm: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = record(cell(policy), tmp_path)
    report: dict[str, Any] = trial.report()
    assert (report["damage"], report["undecrypted"], report["refused"]) == (None, {}, {})
    assert report["decrypted"] == report["protected"] > 0
    (session,) = report["sessions"]
    assert (session["akm"], session["outcome"]) == (akm, "connected")
    assert session["authentication_messages"] == trial.values["authentication_messages"]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("policy", POLICIES)
def test_tshark_finds_nothing_malformed(
    policy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    assert record(cell(policy), tmp_path).wrong() == []
