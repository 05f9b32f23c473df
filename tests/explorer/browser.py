"""One tab of headless Chromium, driven over a pipe: no port, no network, no further package."""

from __future__ import annotations

import base64
import json
import os
import re
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
MISSING = "Chromium is not installed (apt-get install chromium)"
_CODES = {"Escape": 27, "Enter": 13, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39}

_PALE = r"""(() => {
  const parse = (text) => {
    const n = (text.match(/-?[\d.]+(?:e-?\d+)?/g) || []).map(Number);
    const rgb = text.startsWith("color(") ? n.slice(0, 3) : n.slice(0, 3).map((v) => v / 255);
    return [...rgb, n.length > 3 ? n[3] : 1];
  };
  const over = (a, b) => a.slice(0, 3).map((v, i) => v * a[3] + b[i] * (1 - a[3]));
  const light = (c) => c.reduce((sum, v, i) => sum + [.2126, .7152, .0722][i]
    * (v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4), 0);
  const under = (e) => {
    if (!e) return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [1, 1, 1];
    return over(parse(getComputedStyle(e).backgroundColor), under(e.parentElement));
  };
  const faults = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let checked = 0;
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement, box = e.getBoundingClientRect();
    if (!node.textContent.trim() || !box.width || !e.checkVisibility()) continue;
    if (e.closest("script, style, svg, .sr, :disabled")) continue;
    const paper = under(e), ink = parse(getComputedStyle(e).color);
    for (let p = e; p; p = p.parentElement) ink[3] *= Number(getComputedStyle(p).opacity);
    const [a, b] = [light(over(ink, paper)), light(paper)].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    checked++;
    const name = `${e.tagName}.${e.className} ${ratio.toFixed(2)}`;
    if (ratio < 4.5) faults.set(name, node.textContent);
  }
  return [checked, [...faults].map((f) => f.join(": "))];
})()"""
"""How many texts are shown, and those whose contrast with what is under them is below 4.5."""

SMALL = """(least) => [...document.querySelectorAll(
  'button, select, summary, input:not([type=checkbox]), label:has(input), [role=gridcell]')]
  .filter((e) => e.checkVisibility() && e.getBoundingClientRect().width > 1
    && Math.round(e.getBoundingClientRect().height) < least)
  .map((e) => e.outerHTML.slice(0, 80))"""
"""What a finger hits and is lower than so many pixels."""


class Browser:
    """A browser with one page, closed on exit.

    Parameters
    ----------
    folder : Path
        For its profile.
    """

    def __init__(self, folder: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        self.events: list[dict[str, Any]] = []
        self._number, self._rest = 0, b""
        command = [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--disable-background-networking", "--no-first-run", "--disable-dev-shm-usage",
            f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank",
        ]  # fmt: skip
        # The browser reads commands from descriptor 3 and writes answers to descriptor 4.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command], pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self.session = ""
        self.session = self._attached()
        for domain in ("Runtime", "Page", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.size(1280)

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._process.terminate()
        self._process.wait(timeout=20)
        os.close(self._write)
        os.close(self._read)

    def _attached(self) -> str:
        until = time.monotonic() + 180
        while True:
            found = self.ask("Target.getTargets")["targetInfos"]
            page = next((t for t in found if t["type"] == "page"), None)
            if page is not None:
                target = page["targetId"]
                got = self.ask("Target.attachToTarget", targetId=target, flatten=True)
                return str(got["sessionId"])
            assert time.monotonic() < until, "the browser opened no page"

    def _message(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            left = until - time.monotonic()
            assert left > 0, "the browser did not answer"
            if select.select([self._read], [], [], left)[0]:
                part = os.read(self._read, 1 << 20)
                assert part, "the browser ended"
                self._rest += part
        one, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(one))

    def ask(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; events are kept."""
        self._number += 1
        mine = self._number
        message: dict[str, Any] = {"id": mine, "method": method, "params": params}
        if session or self.session:
            message["sessionId"] = session or self.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + 180
        while True:
            got = self._message(until)
            if got.get("id") == mine:
                assert "error" not in got, (method, got["error"])
                return dict(got["result"])
            self.events.append(got)

    def js(self, code: str, session: str = "") -> Any:
        """The value of an expression; an exception is an error of the test."""
        got = self.ask(
            "Runtime.evaluate", session, expression=code, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in got:
            raise AssertionError(got["exceptionDetails"].get("exception", {}).get("description"))
        return got["result"].get("value")

    def until(self, code: str, session: str = "") -> Any:
        """Wait until an expression is true."""
        return self.js(
            f"""new Promise((done, fail) => {{ const from = performance.now();
            const look = () => {{ const v = ({code}); if (v) done(v);
              else if (performance.now() - from > 60000) fail(new Error('waited for ' + {code!r}));
              else setTimeout(look, 10); }}; look(); }})""",
            session,
        )

    def open(self, url: str) -> None:
        """Open a page and wait until it is ready."""
        self._number += 1  # in the address, so that another fragment is a new document too
        place, _, fragment = url.partition("#")
        self.events.clear()
        after = f"#{fragment}" if fragment else ""
        self.ask("Page.navigate", url=f"{place}?{self._number}{after}")
        self.until(
            "document.querySelector('[data-ready]') || document.querySelector('#fault:not(:empty)')"
        )

    def key(self, key: str, *, repeat: bool = False) -> None:
        """Press a key."""
        code = _CODES.get(key, ord(key) if len(key) == 1 else 0)
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        settled = "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r, 10)))"
        self.js(f"new Promise((r) => {settled})")  # what is not painted yet ignores keys
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code,
            autoRepeat=repeat, **text)  # fmt: skip
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
        self.js(f"new Promise((r) => {settled})")

    def size(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Set the window and the colour scheme."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=width < 500)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path) -> None:
        """Save what is seen as PNG."""
        self.js("new Promise((r) => requestAnimationFrame(() => setTimeout(r, 60)))")
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))

    def faults(self) -> list[str]:
        """Exceptions, dialogs, errors of the console, and requests since the page was opened."""
        out = []
        for event in self.events:
            about, method = event.get("params", {}), event.get("method")
            if method in {"Runtime.exceptionThrown", "Page.javascriptDialogOpening"}:
                out.append(str(about)[:300])
            elif method == "Log.entryAdded" and about["entry"]["level"] == "error":
                out.append(about["entry"]["text"])  # a violation of the policy
            elif method == "Network.requestWillBeSent":
                url = about["request"]["url"]
                if not re.match(r"file:|data:|blob:|about:", url):
                    out.append(url)
        return out

    def pale_texts(self, scheme: str) -> list[str]:
        """Shown texts with a contrast below 4.5, by their computed colours in a colour scheme."""
        given = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", features=given)
        checked, faults = self.js(_PALE)
        assert checked > 10
        return faults
