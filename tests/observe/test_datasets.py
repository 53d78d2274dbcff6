import pytest
from polars.testing import assert_frame_equal

from airtoll.errors import DatasetError
from airtoll.observe.datasets import (
    list_datasets,
    load_dataset,
    policy_of_label,
    show_dataset,
)
from airtoll.observe.metrics import METRICS
from airtoll.observe.schema import OBSERVATIONS

ROWS = {
    "agarwal2005": (39, 0),
    "gheryani2013": (916, 900),
    "mccarter2006": (1155, 840),
    "tepsic2014": (28, 0),
    "tripathi2008": (85, 0),
}
DEVICES = {
    "espressif-chips": (383, 0),
    "joins-and-handovers": (61, 39),
    "nordic-nrf70": (50, 0),
    "nxp-chips": (912, 0),
    "qualcomm-qcc74x": (32, 0),
    "silabs-siwx917": (30, 0),
    "tunnels-on-routers": (12, 0),
    "wg-bench": (180, 0),
}


def test_all_are_there_with_their_rows():
    assert list_datasets() == sorted(ROWS | DEVICES)
    for name, (rows, trials) in (ROWS | DEVICES).items():
        dataset = load_dataset(name)
        assert dataset.figures.height == rows
        shown = show_dataset(dataset)
        assert shown["readings"] == trials


def test_units_become_si_and_policies_canonical():
    rows = load_dataset("mccarter2006").observations()
    first = rows.filter(cell="config1-test1-iperf/wpa2-eap-peap-ccmp/tcp", trial=1).row(
        0, named=True
    )
    assert first["value"] == pytest.approx(1_553_000.0)
    assert first["unit"] == METRICS["throughput_bps"][0]
    assert first["metric"] == "throughput_bps"
    authentication = rows.filter(metric="eap_time_s", policy="wpa2-eap-leap-ccmp", trial=1)
    assert sorted(authentication["value"].to_list()) == pytest.approx([0.084, 0.085])


def test_observations_have_the_schema():
    for name in ROWS:
        frame = load_dataset(name).observations()
        assert dict(frame.schema) == OBSERVATIONS


def test_series_are_one_trial():
    frame = load_dataset("gheryani2013").observations()
    assert frame["trial"].unique().to_list() == [1]
    assert sorted(frame["second"].unique().to_list()) == list(range(10))


@pytest.mark.parametrize("name", DEVICES)
def test_every_table_of_a_device_has_its_source(name):
    dataset = load_dataset(name)
    assert dataset.of_devices
    assert set(dataset.figures["table"]) == set(dataset.sources["table"])
    for row in dataset.sources.iter_rows(named=True):
        assert row["address"].startswith("http")
        assert all(row.values())


def test_figures_of_the_shared_chips_are_those_of_the_data_set():
    # Three figures, read again in NXP's page.
    figures = load_dataset("nxp-chips").figures
    for where, policy, transport, value in (
        ("W8987 station 802.11n 2.4 GHz 40 MHz RX", "wpa2-psk-ccmp", "UDP", "126"),
        ("IW416 station 802.11n 5 GHz 40 MHz TX", "wpa3-sae-ccmp", "TCP", "69"),
        ("IW612 station 802.11ax 5 GHz 20 MHz RX", "open", "UDP", "127"),
    ):
        row = figures.filter(configuration=where, policy=policy, transport=transport)
        assert row["value"].to_list() == [value]


def test_labels():
    assert policy_of_label("8021x-tls+ipsec-3des-sha") == "8021x-tls+ipsec-3des-sha1"
    assert policy_of_label("wep") is None
    assert policy_of_label("ipsec-3des-sha / 8021x-md5") is None


def test_printed_digits_are_kept():
    dataset = load_dataset("tripathi2008")
    row = dataset.figures.filter(table="2", security="wpa-tkip", metric="overhead").row(
        0, named=True
    )
    assert row["value"] == "9.20"
    assert row["decimals"] == 2
    assert_frame_equal(dataset.readings, dataset.figures.select(dataset.readings.columns))


def test_errors_name_file_and_line(tmp_path):
    with pytest.raises(DatasetError, match="known are agarwal2005"):
        load_dataset("nothing2000")
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "dataset.toml").write_text('[dataset]\nname = "mine"\ntitle = "Mine"\n')
    with pytest.raises(DatasetError, match=r"readings\.csv: missing"):
        load_dataset(folder)
    header = ",".join(load_dataset("tripathi2008").readings.columns)
    (folder / "readings.csv").write_text(
        header + "\nmine,1,trial,c,open,TCP,,,,,reading,1,throughput,x,Mbps,\n"
    )
    with pytest.raises(DatasetError, match=r"readings\.csv:2: value 'x'"):
        load_dataset(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"\[dataset\] is missing"),
        ('[dataset]\nname = "mine"\n', "title is missing"),
        (
            '[dataset]\nname = "m"\ntitle = "M"\n[[link]]\nphy = "802.11b"\n',
            "configuration is missing",
        ),
        (
            '[dataset]\nname = "m"\ntitle = "M"\n[[aggregation]]\nconfiguration = "c"\n',
            "number 1: source is missing",
        ),
        (
            '[dataset]\nname = "m"\ntitle = "M"\n[[join]]\nconfiguration = "c"\n',
            "number 1: phy is missing",
        ),
        ('[dataset]\nname = "m"\ntitle = "M"\n[claim]\nkind = "order"\n', r"write \[\[claim\]\]"),
        ("[dataset\n", "dataset.toml"),
    ],
)
def test_a_malformed_description_says_what_is_missing(tmp_path, text, message):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "dataset.toml").write_text(text)
    with pytest.raises(DatasetError, match=message):
        load_dataset(folder)
