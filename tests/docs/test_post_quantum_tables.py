"""The generated tables of ``docs/studies/post-quantum.md`` are those of planned trials."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/studies/post-quantum.md").read_text("utf-8")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    path = ROOT / "tools/post_quantum_pages.py"
    spec = importlib.util.spec_from_file_location("post_quantum_pages", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed(name: str) -> list[str]:
    return PAGE.split(f"<!-- table: {name} -->\n")[1].split("<!-- end of table -->")[0].splitlines()


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def same(found: str, shown: str) -> bool:
    """Equal, or numbers that differ by the lengths of ECDSA's signatures at most."""
    if found == shown:
        return True
    numbers = [text.replace(",", "") for text in (found, shown)]
    if not all(text.replace(".", "").isdigit() for text in numbers):
        return False
    first, second = map(float, numbers)
    return abs(first - second) <= (6 if "." not in shown else 0.0011)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("post-quantum-tunnels", marks=pytest.mark.pages),
        pytest.param("post-quantum-roaming", marks=pytest.mark.pages),
        pytest.param("post-quantum-stations", marks=pytest.mark.pages),
        "post-quantum-devices",
        pytest.param("post-quantum-drafts", marks=pytest.mark.pages),
        pytest.param("post-quantum-falcon", marks=pytest.mark.pages),
    ],
)
def test_a_table_is_that_of_the_planned_trials(tool: Any, name: str) -> None:
    found = list(tool.TABLES[name]())
    shown = printed(name)
    assert len(found) == len(shown)
    for one, other in zip(found[2:], shown[2:], strict=True):
        assert all(map(same, cells(one), cells(other))), (one, other)


@pytest.mark.pages
@pytest.mark.parametrize("chain", ["p256", "ml-dsa-44"])
def test_the_storm_of_50_clients_is_that_of_the_planned_trials(tool: Any, chain: str) -> None:
    plan = tool.plan_of("post-quantum-storm")
    (row,) = (
        cells(row) for row in printed("post-quantum-storm") if f"| EAP-TLS | {chain} |" in row
    )
    found = tool.storm_of_50(plan, "wpa2-eap-tls-ccmp", chain).split(" | ")
    assert [float(text) for text in found] == pytest.approx(
        [float(text) for text in row[2:4]], abs=0.11
    )


def test_longer_chains_make_full_hand_overs_longer_and_fast_ones_not() -> None:
    rows = [cells(row) for row in printed("post-quantum-roaming")[2:]]
    full = {row[1]: [float(cell) for cell in row[2:]] for row in rows if row[0] == "full join"}
    for shorter, longer in (("p256", "ml-dsa-44"), ("ml-dsa-44", "ml-dsa-87")):
        assert all(a < b for a, b in zip(full[shorter], full[longer], strict=True))
    fast = [row[2:] for row in rows if row[0] == "fast BSS transition"]
    assert max(float(cell) for row in fast for cell in row) < 0.05


def test_a_device_without_a_published_cost_has_a_dash_and_never_a_zero() -> None:
    """Times of ML-KEM-768 are the printed rates; X25519 is missing on three devices."""
    rows = {row[0]: row[1:] for row in map(cells, printed("post-quantum-devices")[2:])}
    assert float(rows["ml-kem-768-keygen"][2]) == pytest.approx(0.193, abs=0.001)
    assert rows["x25519-scalar-mul"][:3] == ["-", "-", "-"]
    shown = [cell.replace(",", "") for row in rows.values() for cell in row if cell != "-"]
    assert min(map(float, shown)) > 0
    for level in ("44", "65", "87"):
        phone, _, _, chip, _ = rows[f"ml-dsa-{level}-verify"]
        assert float(phone) < float(chip)
    assert float(rows["slh-dsa-sha2-128s-sign"][3].replace(",", "")) > 100_000
