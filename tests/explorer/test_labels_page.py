"""Blind mode in a browser: keys, buttons, back, skip, notes, reload, and a server that ends."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from judgestats.cli import main
from judgestats.commands import LabelFile, export_labels, read_table, write_table
from judgestats.reporting.explorer import label_server
from tests.explorer.browser import SMALL, Browser

SHOWN = "document.querySelector('#blind-texts .judged').textContent"
HEAD = "document.getElementById('blind-head').textContent"
DONE = "document.getElementById('blind-done').textContent"
FAULT = "document.getElementById('blind-fault').textContent"
pytestmark = pytest.mark.browser


def labels_file(folder: Path, n: int = 4) -> Path:
    path = folder / "labels.csv"
    items = [f"i{k}" for k in range(n)]
    texts = [f"answer of {item}" for item in items]
    write_table(
        pd.DataFrame({"item_id": items, "answer": texts, "annotator": "", "label": ""}), path
    )
    return path


@contextmanager
def served(path: Path, *choices: str, annotator: str = "ann") -> Iterator[str]:
    file = LabelFile(path, annotator=annotator, choices=choices or ("pass", "fail"))
    server, address = label_server(file.payload, file.save, port=0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield address
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def labels(path: Path) -> dict[str, str]:
    export_labels(path)
    rows = read_table(path)
    return dict(zip(rows["item_id"], rows["label"], strict=True))


@pytest.mark.parametrize(
    ("choices", "key", "label"),
    [
        (("0", "1", "2", "3", "4", "5"), "1", "1"),
        (("5", "4", "3"), "4", "4"),
        (("pass", "fail"), "2", "fail"),
        (tuple("abcdefghij"), "0", "j"),
        (("0", "1", "unsure-ish"), "1", ""),
        (("-1", "0", "1"), "1", ""),
        (tuple(f"word {k}" for k in range(12)), "1", ""),
    ],
)
def test_a_digit_never_stands_for_another_digit(
    browser: Browser, tmp_path: Path, choices: tuple[str, ...], key: str, label: str
) -> None:
    path = labels_file(tmp_path)
    with served(path, *choices) as address:
        browser.open(address)
        item = browser.js(SHOWN).rpartition(" ")[2]
        browser.key(key)
        if not label:  # no digit keys: the button of the word labels
            assert browser.js("document.querySelectorAll('.choice kbd').length") == 1
            browser.js("document.querySelectorAll('.choice')[1].click()")
            label = choices[1]
        browser.until(f"{HEAD}.startsWith('Item 2')")
    assert labels(path)[item] == label


def test_back_skip_unsure_note_and_reload(browser: Browser, tmp_path: Path) -> None:
    path = labels_file(tmp_path)
    with served(path) as address:
        browser.open(address)
        items = [browser.js(SHOWN).rpartition(" ")[2]]
        browser.key("s")  # the first one comes again at the end
        items.append(browser.js(SHOWN).rpartition(" ")[2])
        browser.key("n")
        browser.js("document.getElementById('blind-note').value = 'see, \"below\"'")
        browser.key("Escape")
        browser.key("1")
        browser.until(f"{HEAD}.startsWith('Item 3')")
        browser.key("b")
        pressed = "document.querySelector('.choice[aria-pressed=true] span').textContent"
        assert browser.js(pressed) == "pass"
        assert browser.js("document.getElementById('blind-note').value") == 'see, "below"'
        browser.key("2")
        browser.until(f"{HEAD}.startsWith('Item 3')")
        items.append(browser.js(SHOWN).rpartition(" ")[2])
        browser.key("u")
        browser.until(f"{HEAD}.startsWith('Item 4')")
        browser.open(address)  # a reload keeps the token, the order and the labels
        assert browser.js(SHOWN).rpartition(" ")[2] == items[0]
        assert browser.js(DONE) == "1 labelled, 1 unsure"
        browser.key("1")
        browser.until(f"{HEAD}.startsWith('Item 4')")
        browser.key("1")
        browser.until(f"{HEAD}.startsWith('All 4 items are answered')")
        assert not [f for f in browser.faults() if not f.startswith(address.partition("#")[0])]
    given = labels(path)
    assert (given[items[0]], given[items[1]], given[items[2]]) == ("pass", "fail", "")
    rows = read_table(path)
    assert rows.loc[rows["item_id"] == items[1], "note"].tolist() == ['see, "below"']


def test_a_key_that_repeats_or_comes_too_early_labels_no_unseen_item(
    browser: Browser, tmp_path: Path
) -> None:
    path = labels_file(tmp_path)
    press = "document.dispatchEvent(new KeyboardEvent('keydown', { key: '1', repeat: REPEAT }))"
    with served(path) as address:
        browser.open(address)
        once, held = press.replace("REPEAT", "false"), press.replace("REPEAT", "true")
        browser.js(f"{held}; {once}; {once}; {once}")
        browser.until(f"{HEAD}.startsWith('Item 2')")
    assert sorted(labels(path).values()) == ["", "", "", "pass"]


def test_a_failed_save_keeps_the_item(browser: Browser, tmp_path: Path) -> None:
    path = labels_file(tmp_path)
    off = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    with served(path) as address:
        browser.open(address)
        before = browser.js(SHOWN)
        browser.ask("Network.emulateNetworkConditions", offline=True, **off)
        browser.key("1")
        browser.until(f"{FAULT}.startsWith('Not saved: ')")
        browser.ask("Network.emulateNetworkConditions", offline=False, **off)
        assert browser.js(SHOWN) == before
        assert set(labels(path).values()) == {""}
        browser.key("1")
        browser.until(f"{HEAD}.startsWith('Item 2')")
        assert browser.js(FAULT) == ""
    assert sorted(labels(path).values()) == ["", "", "", "pass"]


def test_after_a_kill_the_page_says_so_and_labels_go_on(browser: Browser, tmp_path: Path) -> None:
    path = labels_file(tmp_path)
    words = [sys.executable, "-m", "judgestats", "labels", "collect", str(path), "--annotator", "a"]
    done = "0"
    for key in ("1", "2"):
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            said = iter(process.stdout.readline, "")
            address = next(line.strip() for line in said if "#t=" in line)
            browser.open(address)
            assert browser.js(DONE) == f"{done} labelled"
            browser.key(key)
            browser.until(f"!{DONE}.startsWith('{done} ')")
            process.kill()
            process.wait(20)
            before, done = browser.js(SHOWN), browser.js(DONE)[:1]
            browser.key(key)
            browser.until(f"{FAULT}.startsWith('Not saved: the command has ended')")
            assert browser.js(SHOWN) == before
    assert sorted(labels(path).values()) == ["", "", "fail", "pass"]


def test_a_finger_labels_and_keys_can_be_switched_off(browser: Browser, tmp_path: Path) -> None:
    path = labels_file(tmp_path)
    with served(path) as address:
        browser.size(390, 844)
        browser.open(address)
        assert browser.js(f"({SMALL})(44)") == []
        browser.ask("Emulation.setTouchEmulationEnabled", enabled=True)
        x, y = browser.js("""(() => { const b = document.querySelector('.choice')
          .getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()""")
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            browser.ask("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        browser.until(f"{HEAD}.startsWith('Item 2')")
        browser.ask("Emulation.setTouchEmulationEnabled", enabled=False)
        browser.js("document.getElementById('blind-keys').click()")
        browser.js("document.getElementById('blind-texts').focus()")
        browser.key("1")
        assert browser.js(HEAD).startswith("Item 2")
        own = address.partition("#")[0]
        assert [f.removeprefix(own).partition("?")[0] for f in browser.faults()] == [
            "", "data", "label"
        ]  # fmt: skip
        browser.size(1280)
    assert sorted(labels(path).values()) == ["", "", "", "pass"]


def test_two_annotators_label_on_pages_of_their_own(browser: Browser, tmp_path: Path) -> None:
    path = labels_file(tmp_path, 1)
    for annotator, key in (("ann", "1"), ("ben", "2")):
        with served(path, annotator=annotator) as address:
            browser.open(address)
            assert browser.js(DONE) == "0 labelled"
            browser.key(key)
            browser.until(f"{HEAD}.startsWith('All 1 items')")
    export_labels(path)
    rows = read_table(path)[["annotator", "label"]].to_numpy().tolist()
    assert sorted(rows) == [["ann", "pass"], ["ben", "fail"]]


def test_a_file_to_send_keeps_labels_and_saves_them(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = labels_file(tmp_path), tmp_path / "label.html"
    words = ["labels", "collect", str(path), "--out", str(out), "--annotator", "eve"]
    assert main(words) == 0
    assert "4 items to label" in capsys.readouterr().out
    browser.open(out.as_uri())
    browser.key("2")
    browser.until(f"{HEAD}.startsWith('Item 2')")
    browser.open(out.as_uri())
    assert browser.js(DONE) == "1 labelled"
    saved = browser.js("""(async () => { let made; const own = URL.createObjectURL;
      URL.createObjectURL = (b) => { made = b; return own.call(URL, b); };
      HTMLAnchorElement.prototype.click = () => {};
      document.getElementById('blind-save').click(); return made.text(); })()""")
    [row] = csv.DictReader(io.StringIO(saved))
    assert (row["annotator"], row["label"], row["blind"]) == ("eve", "fail", "true")
    assert row["item_id"] in {"i0", "i1", "i2", "i3"}
    assert not browser.faults()
    assert "pass" not in json.dumps(LabelFile(path, annotator="x", choices=["a", "b"]).payload())
