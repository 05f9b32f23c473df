"""The card of a judge says what the screen says, in a picture that loads and runs nothing."""

import json
import re
import xml.etree.ElementTree as ET
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from judgestats.cli import main
from judgestats.results import read_results

SCHEMA = json.loads((files("judgestats.results") / "judge-card.schema.json").read_text("utf-8"))
NASTY = "<script>alert(1)</script>&\x1b[31m"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two judges on forty items, three times each; one has a hostile name."""
    monkeypatch.chdir(tmp_path)
    rows = [
        f'q{i},{r},{1 + (i + (j + 1) * (r == i % 3)) % 9},"{name}"'
        for j, name in enumerate((NASTY, "b")) for i in range(40) for r in range(3)
    ]  # fmt: skip
    Path("a.csv").write_text("\n".join(["item,repeat,score,judge", *rows]) + "\n")
    options = ["--track", "none", "--report", "md", "--resamples", "99", "--crosscheck", "no"]
    assert main(["analyze", "a.csv", *options]) == 0
    [folder] = tmp_path.glob("judgestats-reports/*")
    return folder


def test_the_card_has_the_numbers_of_the_verdict(run: Path, capsys) -> None:
    verdicts = read_results(run / "results.json").verdicts
    assert main(["card", str(run)]) == 2
    assert "--judge" in capsys.readouterr().err
    for verdict in verdicts:
        name = verdict.subject.name
        for out in ("c.json", "c.svg"):
            assert main(["card", str(run), "--judge", name, "--out", out]) == 0
        card = json.loads(Path("c.json").read_text("utf-8"))
        jsonschema.validate(card, SCHEMA)
        assert card["verdict"]["outcome"] == verdict.outcome
        assert card["data"]["items"] == 40
        assert re.fullmatch(r"[0-9a-f]{64}", card["data"]["sha256"])
        for number, r in zip(card["numbers"], verdict.requirements, strict=True):
            assert (number["key"], number["status"]) == (r.key, r.status)
            assert number["estimate"] in (None, r.estimate)
        text = Path("c.svg").read_text("utf-8")
        tree = ET.fromstring(text)
        assert {e.tag.rpartition("}")[2] for e in tree.iter()} <= {
            "svg", "title", "style", "rect", "text"
        }  # fmt: skip
        assert not re.search(r"(href|url\(|@import|on\w+=|\x1b)", text)
        shown = " ".join(tree.itertext())
        assert verdict.outcome.replace("_", " ") in shown
        assert card["numbers"][0]["text"] in shown


def test_another_file_is_not_overwritten(run: Path, capsys) -> None:
    Path("mine.svg").write_text("<svg/>")
    assert main(["card", str(run), "--judge", "b", "--out", "mine.svg"]) == 2
    assert Path("mine.svg").read_text() == "<svg/>"
    assert main(["card", str(run), "--judge", "b", "--out", "mine.pdf"]) == 2
    assert main(["card", str(run), "--judge", "nobody", "--out", "n.svg"]) == 2
    assert "no verdict on 'nobody'" in capsys.readouterr().err
