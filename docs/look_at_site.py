"""Look at every page of the built site: ``python docs/look_at_site.py FOLDER`` after ``make site``.

Opens each page in one headless Chromium at 1280 and 390 px, keeps a picture of it in FOLDER, and
lists what is wider than the window or cut, and pictures that did not load. Exit 1 if there is any.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import aiohttp

SITE = Path(__file__).resolve().parents[1] / "build" / "site"
WIDTHS = (1280, 390)
TALLEST = 6000
"""Pixels of a picture; what stands below is measured, not kept."""
FAULTS = r"""(() => {
  const name = e => e.tagName.toLowerCase() + ' "' + e.textContent.trim().slice(0, 50) + '"';
  const root = document.documentElement, faults = [];
  if (root.scrollWidth > innerWidth + 1) faults.push('page ' + root.scrollWidth + ' px wide');
  for (const e of document.querySelectorAll('article *')) {
    const r = e.getBoundingClientRect();
    const apart = getComputedStyle(e).position === 'absolute';
    if (!r.width || r.right <= innerWidth + 1 || apart) continue;
    let p = e.parentElement;
    while (p && !['auto', 'scroll'].includes(getComputedStyle(p).overflowX)) p = p.parentElement;
    if (!p) { faults.push('beyond the window: ' + name(e)); break; }
  }
  for (const i of document.images)
    if (i.loading !== 'lazy' && i.complete && !i.naturalWidth) faults.push('no picture: ' + i.src);
  return faults;
})()"""


class Browser:
    """A page of Chromium over its debugging protocol."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._last = socket, 0

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to one command."""
        self._last += 1
        await self._socket.send_json({"id": self._last, "method": method, "params": params})
        while (answer := await self._socket.receive_json()).get("id") != self._last:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])

    async def value(self, expression: str) -> Any:
        """What an expression gives on the page."""
        answer = await self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    async def look(self, page: Path, width: int, target: Path) -> list[str]:
        """The faults of a page; its picture goes to `target`."""
        await self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        await self.ask("Page.navigate", url=page.as_uri())
        for _ in range(300):
            if (
                await self.value("document.readyState + location.href")
                == f"complete{page.as_uri()}"
            ):
                break
            await asyncio.sleep(0.05)
        faults = await self.value(FAULTS)
        high = min(int(await self.value("document.documentElement.scrollHeight")), TALLEST)
        clip = {"x": 0, "y": 0, "width": width, "height": high, "scale": 1}
        picture = await self.ask(
            "Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True
        )
        target.write_bytes(base64.b64decode(picture["data"]))
        return list(faults)


async def looked_at(pages: list[Path], folder: Path, profile: str) -> dict[str, list[str]]:
    """Faults by page and width."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("no chromium on PATH (apt-get install chromium)")
    process = await asyncio.create_subprocess_exec(
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        "--disable-background-networking", "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        address = None
        while address is None:
            line = (await process.stderr.readline()).decode()
            address = re.search(r"ws://([\d.:]+)/", line)
        found: dict[str, list[str]] = {}
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://{address[1]}/json") as answer:
                [tab] = [t for t in await answer.json() if t["type"] == "page"]
            # a picture of a tall page is larger than aiohttp's limit for a message
            async with session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                browser = Browser(socket)
                for page in pages:
                    stem = str(page.relative_to(SITE).with_suffix("")).replace("/", "-")
                    for width in WIDTHS:
                        target = folder / f"{stem}-{width}.png"
                        if faults := await browser.look(page, width, target):
                            found[f"{stem} at {width} px"] = faults
                            print(f"{stem} at {width} px: {'; '.join(faults)}", flush=True)
        return found
    finally:
        process.terminate()
        await process.wait()


def main() -> int:
    """Look at all pages, or those whose path holds a word."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="pages whose path holds this")
    parser.add_argument("--no-code", action="store_true", help="without functions and their source")
    words = parser.parse_args()
    words.folder.mkdir(parents=True, exist_ok=True)
    pages = [p for p in sorted(SITE.rglob("*.html")) if words.only in str(p.relative_to(SITE))]
    if words.no_code:
        pages = [p for p in pages if not {"generated", "_modules"} & set(p.relative_to(SITE).parts)]
    if not pages:
        sys.exit(f"{SITE} holds no such page: make site")
    with tempfile.TemporaryDirectory() as profile:
        found = asyncio.run(looked_at(pages, words.folder, profile))
    print(f"{len(pages)} pages at {' and '.join(map(str, WIDTHS))} px: {len(found)} with faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
