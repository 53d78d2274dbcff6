"""The tables of ``docs/studies/eduroam.md`` are those of trials."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/studies/eduroam.md").read_text("utf-8")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("eduroam_pages", ROOT / "tools/eduroam_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(name: str) -> dict[tuple[str, str], list[str]]:
    table = PAGE.split(f"<!-- table: {name} -->\n")[1].split("<!-- end of table -->")[0]
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {(row[0], row[1]): row[2:] for row in found[2:]}


def test_the_table_without_loss_is_that_of_trials(tool: ModuleType) -> None:
    table = "\n".join(tool.joins()) + "\n"
    assert f"<!-- table: eduroam-joins -->\n{table}<!-- end of table -->" in PAGE


@pytest.mark.parametrize(
    ("method", "chain", "place", "transport"),
    [
        ("EAP-TLS", "p256", "abroad", "udp"),
        ("EAP-TLS", "p256", "abroad", "tls"),
        ("PEAP", "p256", "at-home", "udp"),
    ],
)
def test_a_median_with_loss_is_that_of_trials(
    tool: ModuleType, method: str, chain: str, place: str, transport: str
) -> None:
    columns = [(one, way) for one in tool.PLACES for way in ("udp", "tls")]
    printed = rows("eduroam-loss")[method, chain][columns.index((place, transport))]
    assert tool.median(place, tool.METHODS[method], chain, transport) == printed


def test_octets_of_a_chain_are_those_of_its_proxy_states(tool: ModuleType) -> None:
    """Proxies change neither the messages nor the octets between station and access point."""
    near, far = (
        tool.cell_of(place, "wpa2-eap-tls-ccmp", "ml-dsa-44", "udp", 0.0)
        for place in ("at-home", "abroad")
    )
    for metric in ("authentication_messages", "authentication_octets", "messages_radius"):
        assert tool.value(near, metric) == tool.value(far, metric)
