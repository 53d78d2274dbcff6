"""lab.toml: what is taken, and what each mistake is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.errors import UsageError
from airtoll.testbeds.linux.laboratory import lab

GOOD = """
[lab]
name = "bench"
channel = 36

[host.ap]
role = "access-point"
address = "root@192.168.1.1"
interface = "wlan0"
ip = "192.168.1.1"

[host.laptop]
role = "station"
address = "192.168.1.20"
interface = "wlp2s0"
ip = "192.168.1.20"

[host.phone]
role = "station"
by = "hand"
ip = "192.168.1.40"

[host.server]
role = "server"
address = "local"
ip = "192.168.1.10"
"""


def load(tmp_path: Path, text: str) -> lab.Lab:
    path = tmp_path / "lab.toml"
    path.write_text(text)
    return lab.load(path)


def test_hosts_and_roles(tmp_path: Path) -> None:
    found = load(tmp_path, GOOD)
    assert found.of("station") == ["laptop", "phone"]
    assert found.host["phone"].by == "hand"
    assert found.host["ap"].port == 22
    assert found.of("radius") == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('ip = "192.168.1.10"', 'ip = "server"', "host.server.ip: is no IP address"),
        ('role = "server"', 'role = "sever"', "host.server.role: input should be"),
        ('"wlan0"', '"wlan0\\nssid=x"', "host.ap.interface: string should match"),
        ('"wlan0"', '"../x"', "host.ap.interface: string should match"),
        ('"wlan0"', "'$(reboot)'", "host.ap.interface: string should match"),
        ('"root@192.168.1.1"', '"-oProxyCommand=x"', "host.ap.address: string should match"),
        ('"root@192.168.1.1"', '"ap;reboot"', "host.ap.address: string should match"),
        ("[host.ap]", '[host."a p"]', "string should match"),
        ('interface = "wlan0"\n', "", "host.ap: needs the interface of its radio"),
        ('address = "local"\n', "", "host.server: needs an address"),
        ("channel = 36", "chanel = 36", "lab.chanel: extra inputs"),
        ('role = "access-point"', 'role = "station"', "no host has role 'access-point'"),
        ("[lab]", "[lab", "no valid TOML"),
        (
            'role = "server"',
            'role = "server"\nlink = "cable"',
            "is for a station that airtoll drives",
        ),
        ('by = "hand"', 'by = "hand"\nlink = "cable"', "is for a station that airtoll"),
        ('"wlp2s0"', '"eth0"\nlink = "cable"', "all stations have one, or none of them"),
        ('"wlp2s0"', '"eth0"\nlink = "cable"\nmonitor = "m"', "there is no radio to listen to"),
    ],
)
def test_mistakes_name_file_key_and_cause(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError, match=r"lab.toml: ") as caught:
        load(tmp_path, GOOD.replace(old, new, 1))
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none.toml: cannot be read"):
        lab.load(tmp_path / "none.toml")


def test_cables_take_no_access_point(tmp_path: Path) -> None:
    cabled = GOOD.replace('"wlp2s0"', '"eth0"\nlink = "cable"').partition("[host.phone]")
    server = GOOD[GOOD.index("[host.server]") :]
    with pytest.raises(UsageError, match="no access point takes part"):
        load(tmp_path, cabled[0] + server)
    head, _, rest = cabled[0].partition("[host.ap]")
    laptop = rest[rest.index("[host.laptop]") :]
    assert load(tmp_path, head + laptop + server).wired
    assert not load(tmp_path, GOOD).wired
