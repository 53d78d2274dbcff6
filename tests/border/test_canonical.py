"""Requests as canonical JSON, and what the native module refuses in them."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from attrs import evolve
from attrs.exceptions import FrozenInstanceError

from airtoll import _native, border


def request() -> border.Scenario:
    return border.Scenario(
        duration_s=1.0,
        bss=(border.Bss(name="cell", standard=border.Standard("802.11a"), rate=border.RateAarf()),),
        nodes=(
            border.Node(name="A", role=border.Role.STATION, bss="cell"),
            border.Node(name="ap", role=border.Role.ACCESS_POINT, bss="cell"),
        ),
        flows=(
            border.Flow(
                name="up",
                source="A",
                destination="ap",
                transport=border.TransportUdp(),
                pattern=border.PatternSaturated(payload_octets=1000),
            ),
        ),
    )


def test_defaults_are_left_out_and_the_field_of_a_variant_is_not() -> None:
    (bss,) = border.plain(request())["bss"]
    assert bss == {"name": "cell", "standard": "802.11a", "rate": {"control": "aarf"}}
    assert border.plain(border.Queue(packets=3, max_delay_ms=None)) == {
        "packets": 3,
        "max_delay_ms": None,
    }


def test_octets_are_numbers() -> None:
    domain = border.MobilityDomain(identifier=b"\x00\xff", r0_key_holder=b"a", over_the_ds=True)
    assert border.plain(domain)["identifier"] == [0, 255]


def test_a_value_of_another_class_is_refused() -> None:
    with pytest.raises(TypeError, match="object is no class"):
        border.plain(object())


def test_the_native_module_reads_a_request() -> None:
    _native.Scenario(border.to_json(request())).check()


@pytest.mark.parametrize("place", ["", "bss.0", "bss.0.rate", "nodes.1", "flows.0.transport"])
def test_the_native_module_names_an_unknown_field(place: str) -> None:
    plain = border.plain(request())
    inner = plain
    for key in filter(None, place.split(".")):
        inner = inner[int(key)] if key.isdigit() else inner[key]
    inner["not_a_field"] = 1
    with pytest.raises(_native.InvalidScenario, match="not_a_field"):
        _native.Scenario(json.dumps(plain))


def test_a_policy_with_an_unknown_field_is_refused() -> None:
    policy = {"name": "open", "link": {"cipher": "open"}}
    policy["link"] |= {"group_cipher": "open", "colour": "red"}
    with pytest.raises(ValueError, match="colour"):
        _native.negotiate(json.dumps(policy), 1)


def test_requests_are_equal_where_class_and_fields_are():
    loss = border.PathLossConstant(loss_db=50.0)
    assert loss == border.PathLossConstant(loss_db=50.0)
    assert hash(loss) == hash(border.PathLossConstant(loss_db=50.0))
    assert loss != border.PathLossConstant(loss_db=51.0)
    assert border.Queue(packets=3, max_delay_ms=None) != loss
    assert repr(loss) == "PathLossConstant(model='constant', loss_db=50.0)"
    with pytest.raises(FrozenInstanceError):
        loss.loss_db = 1.0


def test_a_request_takes_its_fields_by_name_and_no_others():
    with pytest.raises(TypeError, match="PathLossConstant needs loss_db"):
        border.PathLossConstant()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="has no field colour"):
        border.PathLossConstant(loss_db=50.0, colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="has no field model"):
        border.PathLossConstant(loss_db=50.0, model="constant")  # type: ignore[call-arg]


def test_a_request_is_changed_copied_and_sent_to_another_process():
    loss = border.PathLossLogDistance(reference_db=40.0, exponent=2.0)
    other = evolve(loss, exponent=3.0)
    assert (other.reference_db, other.exponent, loss.exponent) == (40.0, 3.0, 2.0)
    assert pickle.loads(pickle.dumps(other)) == other == copy.deepcopy(other)
    radio = border.Radio(path_loss=other)
    assert evolve(radio, shadowing_db=2.0).path_loss is other
    assert border.plain(evolve(radio, shadowing_db=2.0)) == {
        "path_loss": {"model": "log_distance", "reference_db": 40.0, "exponent": 3.0},
        "shadowing_db": 2.0,
    }
