"""Write the first screens of eight studies to docs/pictures, as the reports show them.

Takes nothing, or names of studies; runs each with few trials, opens its report in Chromium and
keeps the screen as a PNG of at most 150 kB. The shipped seed makes the numbers repeatable; those of
studies without a number of trials here are those of their answers in docs/studies.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from airtoll.report import write_report
from airtoll.run import run

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
#: Study -> trials: enough for an interval, few enough to wait for; None: those of the study.
STUDIES: dict[str, int | None] = {
    "quickstart": None,
    "tripathi2008": None,
    "mccarter2006": 3,
    "gheryani2013": None,
    "tepsic2014": 3,
    "beacon-tax": 3,
    "roaming2026": None,
    "reauthentication-storm": None,
}
MOST_OCTETS = 150_000
WIDTH, HEIGHT = 1280, 900
_COLOURS = (256, 128, 64, 32)


def main() -> int:
    """Make the pictures; 1 if a study is unknown or Chromium is missing."""
    wanted = sys.argv[1:] or list(STUDIES)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    unknown = [name for name in wanted if name not in STUDIES]
    if unknown or chromium is None:
        print(f"unknown: {', '.join(unknown)}" if unknown else "chromium is not installed")
        return 1
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="airtoll-screens-") as folder:
        for name in wanted:
            result = run(name, out=Path(folder) / name, trials=STUDIES[name])
            page = write_report([result.path])
            picture = small(screen(page, chromium))
            (PICTURES / f"{name}.png").write_bytes(picture)
            print(f"{name}: {len(picture)} octets", flush=True)
    return 0


def screen(page: Path, chromium: str) -> bytes:
    """The first screen of a page as PNG."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        tab.goto(page.as_uri())
        picture = tab.screenshot()
        browser.close()
    return picture


def small(picture: bytes) -> bytes:
    """The picture with as few colours as it needs to stay below the limit."""
    image = Image.open(BytesIO(picture)).convert("RGB")
    for colours in _COLOURS:
        target = BytesIO()
        image.quantize(colours, dither=Image.Dither.NONE).save(target, "PNG", optimize=True)
        if target.tell() <= MOST_OCTETS:
            return target.getvalue()
    raise SystemExit(f"a picture of {_COLOURS[-1]} colours has {target.tell()} octets")


if __name__ == "__main__":
    sys.exit(main())
