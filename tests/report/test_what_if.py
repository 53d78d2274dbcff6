"""The panel in a real browser: the same rows as the native module, answers in time, refusals."""

from __future__ import annotations

import json
import re
import statistics

import pytest
from attrs import evolve

from airtoll import _native, border
from airtoll.plan import make_plan
from airtoll.report import browser as in_pages
from airtoll.report import write_report
from airtoll.report.what_if import MORE_TRIALS, TRIALS, WARM_UP_S, Choice
from airtoll.run import run
from airtoll.run.what_if import what_if
from airtoll.study import load
from airtoll.testbeds import resolve
from airtoll.testbeds.resolve import scenario as scenario_of

BUILT = pytest.mark.skipif(in_pages.module() is None, reason=in_pages.NOT_BUILT)
#: Studies whose first cells differ in PHY, aggregation, cards, joins, tunnels and hand-overs.
STUDIES = ("quickstart", "tripathi2008", "roaming2026", "mixed-cell", "mccarter2006-authentication")


def short(text: str) -> str:
    scenario = json.loads(text)
    scenario["duration_s"], scenario["warm_up_s"] = 0.3, 0.05
    return json.dumps(scenario)


def cells(name: str) -> list[str]:
    """Scenarios of the first cell of every policy of a study, short."""
    of_policy = {}
    for cell in make_plan(load(name).study).cells:
        of_policy.setdefault(cell.policy, cell)
    return [short(border.to_json(scenario_of(cell))) for cell in list(of_policy.values())[:6]]


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    out = tmp_path_factory.mktemp("panel") / "run"
    result = run("quickstart", on="simulator", out=out, trials=2, jobs=1)
    panel = what_if(result.folder.plan())
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    problems: list[str] = []
    tab.on("console", lambda message: problems.append(message.text))
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.goto(write_report([result.path], panel=panel).as_uri())
    assert tab.evaluate("typeof window.airtoll") == "undefined"
    tab.locator("#what-if summary").click()
    tab.wait_for_function("window.airtoll !== undefined")
    yield tab
    assert problems == []
    tab.close()


@BUILT
@pytest.mark.browser
@pytest.mark.parametrize("study", STUDIES)
def test_rows_are_those_of_the_native_module_to_the_last_bit(page, study):
    seeds = [1, 7]
    for scenario in cells(study):
        native = _native.Scenario(scenario).simulate(seeds)
        request = f'{{"scenario": {scenario}, "seeds": {seeds}}}'
        answer = json.loads(page.evaluate("(request) => window.airtoll.askText(request)", request))
        assert len(native["value"]) > 10
        # repr distinguishes every two floats, and 0.0 from -0.0.
        assert repr(answer["columns"]) == repr(json.loads(json.dumps(native)))


def slide(page, name: str, value: int) -> None:
    page.locator(f'#what-if [name="{name}"]').evaluate(
        "(slider, value) => { slider.value = value;"
        " slider.dispatchEvent(new Event('input', { bubbles: true })); }",
        str(value),
    )


def throughput(page) -> str:
    page.wait_for_function("!document.getElementById('what-if').dataset.busy")
    return page.locator('#what-if [data-of="throughput"]').inner_text()


@BUILT
@pytest.mark.browser
def test_a_moved_slider_shows_the_numbers_of_the_native_module(page):
    page.locator('#what-if [name="policy"]').select_option("wpa2-psk-ccmp")
    slide(page, "payload", 300)
    slide(page, "stations", 3)
    choice = page.evaluate(
        "window.airtoll.choices.find((c) => c.policy === 'wpa2-psk-ccmp' && c.tunnel === '')"
    )
    scenario = page.evaluate(
        "(s) => window.airtoll.changed(s, { payload: 300, stations: 3 })", choice["scenario"]
    )
    assert [flow["pattern"]["payload_octets"] for flow in scenario["flows"]] == [300, 300, 300]
    told = throughput(page)
    section = page.locator("#what-if")
    count = int(section.get_attribute("data-trials"))
    # The last figures are those of more trials than the first ones, which come at once.
    assert count == MORE_TRIALS
    scenario["duration_s"] = WARM_UP_S + float(section.get_attribute("data-seconds"))
    rows = _native.Scenario(json.dumps(scenario)).simulate(list(range(1, count + 1)))
    totals = [0.0] * count
    for metric, trial, value in zip(rows["metric"], rows["trial"], rows["value"], strict=True):
        if metric == "throughput_bps":
            totals[trial] += value
    # Digits by the interval: both have as many, and the interval two significant ones.
    value, half = re.match(r"([\d.]+) ± ([\d.]+) Mb/s", told).groups()
    places = len(value.partition(".")[2])
    assert len(half.partition(".")[2]) == places
    assert value == f"{statistics.mean(totals) / 1e6:.{places}f}"
    assert len(half.lstrip("0.").replace(".", "")) <= 3
    assert re.search(r"overhead \d+\.\d+ ± \d+\.\d+ %", cost(page))
    shares = page.locator("#what-if tbody tr").count()
    assert shares >= 6
    assert int(page.locator("#what-if").get_attribute("data-took")) >= 0


@BUILT
@pytest.mark.browser
def test_the_panel_fits_a_phone(page):
    throughput(page)
    before = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator("#what-if .wide")
    assert box.evaluate("(box) => box.scrollWidth - box.clientWidth") <= 1
    page.set_viewport_size(before)


def cost(page) -> str:
    return page.locator('#what-if [data-of="cost"]').inner_text()


@BUILT
@pytest.mark.browser
@pytest.mark.parametrize(("rate", "payload"), [("0", 1472), ("0", 200), ("4", 900)])
def test_a_cost_holds_that_of_a_long_run(page, rate, payload):
    """At the lowest rate a short trial has a hundred packets: one is more than the cost."""
    for name, value in (("policy", "wpa2-psk-ccmp"), ("tunnel", ""), ("rate", rate)):
        page.locator(f'#what-if [name="{name}"]').select_option(value)
    slide(page, "stations", 1)
    slide(page, "payload", payload)
    throughput(page)
    said = re.search(r"overhead (-?[\d.]+) ± ([\d.]+) %", cost(page))
    rates = page.evaluate("JSON.parse(document.getElementById('what-if-data').textContent).rates")
    means = []
    for policy in ("open", "wpa2-psk-ccmp"):
        scenario = page.evaluate(
            "([policy, wanted]) => window.airtoll.changed(window.airtoll.choices.find("
            "(c) => c.policy === policy && c.tunnel === '').scenario, wanted)",
            [policy, {"payload": payload, "stations": 1, "rate": rates[int(rate)]}],
        )
        scenario["duration_s"] = WARM_UP_S + 20
        rows = _native.Scenario(json.dumps(scenario)).simulate([41, 42, 43])
        means.append(
            statistics.mean(
                value
                for metric, value in zip(rows["metric"], rows["value"], strict=True)
                if metric == "throughput_bps"
            )
        )
    assert abs(100 * (1 - means[1] / means[0]) - float(said[1])) <= float(said[2])
    page.locator('#what-if [name="rate"]').select_option("")


MODERN = """
[study]
name = "modern"
title = "A network of 802.11be at 6 GHz"
baseline = "owe-gcmp-256"
[trials]
repetitions = 2
[scenario.home]
phy = "802.11be"
band = "6"
rssi_dbm = -50
stations = [{ name = "A" }]
[traffic.udp]
transport = "udp"
duration_s = 0.1
[grid]
policy = ["owe-gcmp-256", "wpa3-sae-ext-gcmp-256"]
"""


@BUILT
@pytest.mark.browser
def test_choices_that_cannot_be_had_are_not_offered(browser, tmp_path):
    study = tmp_path / "modern.toml"
    study.write_text(MODERN)
    result = run(study, on="simulator", out=tmp_path / "run", jobs=1)
    panel = what_if(result.folder.plan())
    refused = {c.policy for c in panel.choices if c.refused and not c.tunnel}
    assert refused
    tab = browser.new_page()
    tab.goto(write_report([result.path], panel=panel).as_uri())
    tab.locator("#what-if summary").click()
    tab.wait_for_function("window.airtoll !== undefined")
    disabled = tab.locator('#what-if [name="policy"] option[disabled]').evaluate_all(
        "(options) => options.map((option) => option.value)"
    )
    assert set(disabled) == refused - {panel.policy}
    said = tab.locator('#what-if [data-of="refused"]').inner_text()
    assert all(f"Not offered: {dict(panel.policies)[name]}" in said for name in disabled)
    # No open network at 6 GHz: the policy's own throughput is left.
    assert "open" in refused
    assert re.match(r"[\d.]+ ± [\d.]+ Mb/s", throughput(tab))
    assert cost(tab).startswith("Without security it cannot be had: ")
    tab.close()


@BUILT
@pytest.mark.browser
def test_the_page_answers_while_the_worker_simulates(page):
    assert len(page.workers) == 1
    # Many seconds of air: the clock of the page goes on until the answer is there.
    ticks = page.evaluate(
        "async () => { let ticks = 0; const clock = setInterval(() => { ticks += 1; }, 5);"
        " const scenario = { ...window.airtoll.choices[0].scenario, duration_s: 60 };"
        " await window.airtoll.ask({ scenario, seeds: [1, 2] }); clearInterval(clock);"
        " return ticks; }"
    )
    assert ticks > 3


@BUILT
@pytest.mark.browser
def test_long_trials_end_when_a_control_moves(page):
    page.locator('#what-if [name="policy"]').select_option("wpa2-psk-ccmp")
    throughput(page)
    asked, shown = page.evaluate(
        """async (TRIALS) => {
          const own = Worker.prototype.postMessage;
          const slider = document.querySelector('#what-if [name="payload"]');
          const section = document.getElementById("what-if");
          const move = (value) => {
            slider.value = value;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
          };
          let asked = 0;
          Worker.prototype.postMessage = function (...given) {
            asked += 1;
            // The first of the long trials.
            if (asked === 2 * TRIALS + 1) move(500);
            return own.apply(this, given);
          };
          move(400);
          while (section.dataset.busy) await new Promise((go) => setTimeout(go, 5));
          Worker.prototype.postMessage = own;
          return [asked, section.querySelector('[data-of="payload"]').textContent];
        }""",
        TRIALS,
    )
    # Four short trials of both networks, one long one that the slider ends, and all of it again.
    assert asked == 2 * TRIALS + 1 + 2 * TRIALS + 2 * MORE_TRIALS
    assert shown == "500"
    assert page.locator("#what-if").get_attribute("data-trials") == str(MORE_TRIALS)


@BUILT
@pytest.mark.browser
def test_without_workers_the_panel_simulates_in_the_page(browser, page):
    tab = browser.new_page()
    tab.add_init_script("window.Worker = function () { throw new Error('not here'); };")
    tab.goto(page.url)
    tab.locator("#what-if summary").click()
    tab.wait_for_function("window.airtoll !== undefined")
    tab.wait_for_function("!document.getElementById('what-if').dataset.busy")
    assert tab.locator('#what-if [data-of="throughput"]').inner_text().endswith("Mb/s")
    tab.close()


@BUILT
@pytest.mark.browser
def test_a_weak_signal_and_an_impossible_number_are_said(page):
    slide(page, "distance", 100)
    assert throughput(page).startswith("0.000 Mb/s in every trial")
    error = page.evaluate(
        "window.airtoll.ask({ scenario: { ...window.airtoll.choices[0].scenario,"
        " duration_s: -1 }, seeds: [1] }).then((answer) => answer.error)"
    )
    assert "duration_s" in error
    slide(page, "distance", 5)


@BUILT
def test_the_module_is_small_and_a_page_without_a_panel_has_none(finished_run):
    assert len(in_pages.embedded()) * 3 / 4 < 2_000_000
    page = write_report([finished_run.path]).read_text("utf-8")
    assert 'id="simulator"' not in page
    assert "What if?" not in page


@pytest.fixture
def finished_run(small_study, fake, tmp_path):
    return run(small_study(), testbed=fake(), out=tmp_path / "run", jobs=1)


def test_choices_are_resolved_as_the_testbed_does():
    plan = make_plan(load("quickstart").study)
    panel = what_if(plan)
    assert panel is not None
    assert (panel.policy, panel.tunnel, panel.payload_octets, panel.stations) == (
        "open",
        "",
        1472,
        1,
    )
    by_name = {(choice.policy, choice.tunnel): choice for choice in panel.choices}
    for choice in by_name.values():
        assert (choice.scenario is None) == (choice.refused is not None)
    secured = next(c for c in plan.cells if c.policy == "wpa2-psk-ccmp" and c.traffic == "udp")
    offered = json.loads(by_name["wpa2-psk-ccmp", ""].scenario or "")
    resolved = json.loads(border.to_json(scenario_of(secured)))
    for own in ("duration_s", "warm_up_s"):
        offered.pop(own)
        resolved.pop(own, None)
    resolved.pop("associations", None)
    assert offered == resolved
    assert isinstance(by_name["open", "wireguard"], Choice)


@pytest.mark.parametrize("study", ["roaming2026", "walk-by-level", "agarwal2005"])
def test_stations_of_a_panel_stay_with_their_first_access_point(study):
    plan = make_plan(load(study).study)
    panel = what_if(plan)
    assert panel is not None
    assert panel.moves == (study != "agarwal2005")
    for choice in panel.choices:
        if choice.policy != panel.policy or choice.scenario is None:
            continue
        scenario = json.loads(choice.scenario)
        assert len(scenario["bss"]) == 2
        assert not scenario.get("handovers")
        columns = _native.Scenario(choice.scenario).simulate([1])
        assert columns["failure"] == [None]
        assert "throughput_bps" in columns["metric"]


def test_a_cipher_after_8021x_is_part_of_the_link():
    panel = what_if(make_plan(load("agarwal2005").study))
    assert panel is not None
    assert "8021x-tls+wep-104" in dict(panel.policies)
    assert not [name for name, _ in panel.tunnels if name.startswith("wep")]


def test_a_first_cell_with_mobile_ip_has_no_panel():
    plan = make_plan(load("roaming2026").study)
    mobile = next(cell for cell in plan.cells if resolve.scenario(cell).mobility_agents)
    assert what_if(evolve(plan, cells=(mobile,))) is None


@BUILT
@pytest.mark.browser
def test_rate_and_distance_change_every_bss(page):
    panel = what_if(make_plan(load("roaming2026").study))
    assert panel is not None
    start = json.loads(next(c.scenario for c in panel.choices if c.scenario))
    wanted = {
        "rate": json.loads(panel.rates[0][1]),
        "distance": 7,
        "path_loss": json.loads(panel.path_loss),
    }
    made = page.evaluate("([s, w]) => window.airtoll.changed(s, w)", [start, wanted])
    assert [bss["rate"] for bss in made["bss"]] == [wanted["rate"]] * 2
    places = {node["name"]: node.get("position_m", [0, 0, 0]) for node in made["nodes"]}
    assert places["phone"][0] - places["ap"][0] == 7
    assert _native.Scenario(json.dumps(made)).simulate([1])["failure"] == [None]


def test_a_checkout_without_the_module_says_how_to_build_it(finished_run, monkeypatch, capsys):
    from airtoll.cli.what_if import panel_of

    monkeypatch.setattr(in_pages, "module", lambda: None)
    assert panel_of([finished_run.path], wanted=True) is None
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "make web" in said
    assert panel_of([finished_run.path], wanted=False) is None
    assert capsys.readouterr().err == ""
