"""The page of a running study: who may see it, what it says, and that it changes no result."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

from airtoll.errors import UsageError
from airtoll.plan import Cell, Trial
from airtoll.report import page_of
from airtoll.run import run
from airtoll.run.live import Live
from airtoll.run.loopback import ADDRESS, Document, Loopback
from airtoll.run.pace import Pace
from airtoll.testbeds.contract import Measured, Row, Skip


def get(url: str, name: str = "", host: str | None = None) -> tuple[int, str]:
    """The status and the text of one request, over a connection of its own."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(ADDRESS, parts.port, timeout=20)
    headers = {"Host": host} if host else {}
    connection.request("GET", parts.path + name, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


class Stepped:
    """Measures a trial only when the test lets it; every second trial of WEP-104 fails."""

    name = "fake"
    parallel = True

    def __init__(self) -> None:
        self.allowed = threading.Semaphore(0)
        self.measured = 0

    def check(self, cell: Cell) -> Skip | None:
        return Skip("the fake knows no WEP-40") if cell.policy == "wep-40" else None

    def cautions(self, cell: Cell) -> tuple[()]:
        return ()

    def expected_s(self, cell: Cell) -> float:
        return 0.001

    def measure(self, trial: Trial, captures: Path | None = None) -> Measured:
        assert self.allowed.acquire(timeout=60)
        self.measured += 1
        if trial.cell.policy == "wep-104" and trial.number % 2:
            return Measured(failure="the fake dropped its antenna")
        added = trial.cell.security.octets_per_mpdu
        speed = 30e6 - 1e5 * added + 1e4 * (trial.seed % 97)
        return Measured(rows=(Row("throughput_bps", speed, "bit/s"),))

    def environment(self) -> dict[str, str]:
        return {"fake": "1"}

    def cancel(self) -> None:
        self.allowed.release(1000)

    def close(self) -> None:
        pass


@pytest.fixture
def study(small_study) -> Path:
    return small_study(policies=', "wep-104", "wep-40"')


@pytest.fixture
def served():
    server = Loopback({"": lambda: Document("text/html", "<p>here</p>")})
    with contextlib.closing(server):
        yield server


def test_the_page_is_at_its_address(served):
    assert get(served.url) == (200, "<p>here</p>")
    assert urlsplit(served.url).hostname == "127.0.0.1"


def test_another_token_is_refused(served):
    base = f"http://{ADDRESS}:{served.port}/"
    token = urlsplit(served.url).path.strip("/")
    for wrong in ("", "x/", f"{token[:-1]}/", f"{token}x/", f"%00{token}/", token, "%C3%A9/"):
        assert get(base, wrong)[0] == 403, wrong
    assert get(served.url, "nothing")[0] == 404


def test_a_page_of_another_site_is_refused(served):
    for host in ("evil.example", f"evil.example:{served.port}", "127.0.0.1", f"{ADDRESS}:1"):
        assert get(served.url, host=host)[0] == 421, host
    assert get(served.url, host=f"localhost:{served.port}")[0] == 200


def test_only_get_is_answered(served):
    parts = urlsplit(served.url)
    connection = http.client.HTTPConnection(ADDRESS, parts.port, timeout=20)
    connection.request("POST", parts.path, body="x")
    assert connection.getresponse().status == 501
    connection.close()


def test_a_page_loads_nothing_and_is_in_no_frame(served):
    parts = urlsplit(served.url)
    connection = http.client.HTTPConnection(ADDRESS, parts.port, timeout=20)
    connection.request("GET", parts.path)
    headers = connection.getresponse().headers
    connection.close()
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


def test_a_taken_port_is_an_error_of_one_line(served):
    with pytest.raises(UsageError, match=f"port {served.port} of 127.0.0.1"):
        Loopback({}, served.port)


def until(url: str, wanted) -> dict:
    """The first state that is as wanted."""
    for _ in range(600):
        state = json.loads(get(url, "state")[1])
        if wanted(state):
            return state
        threading.Event().wait(0.05)
    raise AssertionError(state)


def started(bed: Stepped, page: Live, study: Path, out: Path, jobs: int) -> threading.Thread:
    """A run in a thread, with its page."""
    runner = threading.Thread(
        target=run,
        args=(study,),
        kwargs={
            "testbed": bed, "out": out, "jobs": jobs, "progress": page.advance,
            "started": page.start, "on_phase": page.phase,
        },
    )  # fmt: skip
    runner.start()
    return runner


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.thorough), 3])
def test_the_page_is_the_report_of_the_trials_so_far(study, tmp_path, jobs):
    bed = Stepped()
    with Live(rest=0) as page:
        assert "appears here" in get(page.url)[1]
        runner = started(bed, page, study, tmp_path / "run", jobs)
        bed.allowed.release(14)
        state = until(page.url, lambda s: s["done"] >= 26 and s["revision"])
        assert state["planned"] == 48
        assert "12 cells" not in state["counts"]
        assert "2 cells skipped" in state["counts"]
        assert any("the fake knows no WEP-40 (2 times)" in text for text in state["reasons"])
        assert any("dropped its antenna" in text for text in state["reasons"])
        for done in (30, 34, 38):
            before = state["revision"]
            bed.allowed.release(4)
            state = until(
                page.url, lambda s, n=done, r=before: s["done"] >= n and s["revision"] > r
            )
        text = get(page.url, "report")[1]
        assert 'id="report"' in text
        assert 'id="costs"' in text
        assert "WPA2-Personal" in text
        assert "the fake dropped its antenna" in text
        assert 'id="figure-narrowing"' in text
        bed.allowed.release(100)
        runner.join()
        assert json.loads(get(page.url, "state")[1])["problem"] == ""


def test_the_results_are_the_same_with_and_without_the_page(tmp_path, study, fake):
    alone = run(study, testbed=fake(), out=tmp_path / "alone", jobs=2)
    with Live() as page:
        watched = run(
            study, testbed=fake(), out=tmp_path / "watched", jobs=2, progress=page.advance,
            started=page.start, on_phase=page.phase,
        )  # fmt: skip
        until(page.url, lambda s: s["revision"])
    names = sorted(path.name for path in alone.path.iterdir())
    assert sorted(path.name for path in watched.path.iterdir()) == names
    for name in ("observations.parquet", "trials.parquet", "sketches.parquet"):
        assert (watched.path / name).read_bytes() == (alone.path / name).read_bytes()


def test_a_resumed_run_counts_what_an_earlier_part_left(tmp_path, study, fake):
    done = run(study, testbed=fake(), out=tmp_path / "run", trials=2, jobs=1)
    with Live() as page:
        page.start(done.folder, done.folder.plan())
        state = until(page.url, lambda s: s["revision"])
        ok = done.trials().filter(status="ok").height
        assert f"{ok} trials count" in state["counts"]


def test_the_end_waits_for_an_open_page_only(tmp_path, study, fake):
    times = iter(range(10_000))
    with Live(clock=lambda: float(next(times))) as page:
        page.finish("<p>the report</p>")
        page.farewell()  # no page is open: returns at once
        assert json.loads(get(page.url, "state")[1])["ended"] is True
        before = next(times)
        page.farewell()  # the page has asked and taken nothing
        assert next(times) - before > 10
        # An open page that draws its newest figures has not become the report yet.
        assert get(page.url, "report") == (200, "<p>the report</p>")
        assert json.loads(get(page.url, "state")[1])["ended"] is True
        before = next(times)
        page.farewell()
        assert next(times) - before > 10
        assert get(page.url) == (200, "<p>the report</p>")
        before = next(times)
        page.farewell()
        assert next(times) - before < 10


def test_the_remaining_time_is_that_of_this_part_of_the_run():
    now = [0.0]
    pace = Pace(lambda: now[0])
    assert pace.advance(10, 50, None)
    assert pace.left() == ""
    now[0] = 20.0
    assert not pace.advance(20, 50, object())  # type: ignore[arg-type]
    assert pace.left() == "about 60 s left"


@pytest.mark.browser
def test_the_page_in_a_browser_grows_and_becomes_the_report(browser, study, tmp_path):
    window = browser.new_page(viewport={"width": 390, "height": 800})
    problems: list[str] = []
    window.on("console", lambda message: problems.append(message.text))
    window.on("pageerror", lambda error: problems.append(str(error)))
    bed = Stepped()
    with Live(rest=0) as page:
        window.goto(page.url)
        assert "appears here" in window.locator("#report").inner_text()
        runner = started(bed, page, study, tmp_path / "run", 2)
        bed.allowed.release(14)
        window.wait_for_selector("#report #costs", timeout=60_000)
        assert "Failures and refusals: " in window.locator("#making-reasons summary").inner_text()
        assert window.locator("#making-done").evaluate("bar => bar.value") > 12
        window.evaluate("document.querySelector('#method > details').open = true")
        state = until(page.url, lambda s: s["done"] >= 26 and s["revision"])
        for done in (30, 34, 38):
            before = state["revision"]
            bed.allowed.release(4)
            state = until(
                page.url, lambda s, n=done, r=before: s["done"] >= n and s["revision"] > r
            )
        window.wait_for_selector("#figure-narrowing svg", timeout=60_000)
        assert window.locator("#method > details").evaluate("fold => fold.open")
        assert window.evaluate("document.documentElement.scrollWidth") <= 390
        found = Axe().run(window).response["violations"]
        assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
        bed.allowed.release(100)
        runner.join()
        whole = page_of(tmp_path / "run")
        with window.expect_response("**/state"):
            pass
        page.finish(whole)
        page.farewell()
    # The server is gone; the page is the whole report, and its scripts work.
    window.wait_for_selector("#making", state="detached", timeout=60_000)
    window.evaluate("location.hash = '#audit'")
    window.wait_for_selector("#audit > details[open]")
    assert problems == []
    window.close()
