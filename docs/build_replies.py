"""The table of reply shapes, and what real replies are read as, in docs/replies.md.

    python docs/build_replies.py            # write the page
    python docs/build_replies.py --check    # CI: the page is what the tables say
    python docs/build_replies.py --data DIR # read the published replies again first

The shapes are those that the tests hold the reader to. The differences from published readings are
kept in docs/replies-differences.jsonl: the replies themselves are not part of this repository.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.protocols.replies import READER_VERSION, PairForm, read_reply

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "replies.md"
SHAPES = DOCS.parent / "tests" / "protocols" / "fixtures" / "replies.jsonl"
DIFFERENCES = DOCS / "replies-differences.jsonl"
_MOST = 90


def published(data: Path) -> Iterator[tuple[str, str, str, str]]:
    """Every published reply: its file, which one, its text, the published reading or nothing."""
    folder = data / "position_bias"
    raw = pd.read_csv(folder / "repetition_rawtext_2judges_MTBench.csv.gz")
    read = pd.read_csv(folder / "repetition_verdicts.csv.gz")
    both = raw.merge(read, on=["bench", "judge", "rep", "cmp_index"])
    for row in both.itertuples(index=False):
        letter = {"C": "tie"}.get(row.ans, row.ans) if isinstance(row.ans, str) else ""
        yield "position_bias", f"{row.judge} {row.rep} {row.cmp_index}", str(row.raw), letter
    for path in sorted((data / "llmbar" / "raw").glob("*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = json.load(file)
        for number, row in enumerate(rows):
            for order, first in (("swap = False", "1"), ("swap = True", "2")):
                result = row["results"][0][order]
                replies = result.get("completion")
                text = replies[0] if isinstance(replies, list) else replies
                if isinstance(text, str):  # a rating is two replies, kept elsewhere
                    winner = str(result["winner"])
                    letter = ("A" if winner == first else "B") if winner in {"1", "2"} else ""
                    yield path.name.removesuffix(".json.gz"), f"{number} {order}", text, letter


def differences(data: Path) -> list[dict[str, Any]]:
    """One row a file with its counts, followed by one row a reply that is read differently."""
    counts: dict[str, Counter[str]] = {}
    rows: dict[str, list[dict[str, Any]]] = {}
    for file, which, text, letter in published(data):
        verdict = read_reply(text, PairForm())
        ours = verdict.choice or ""
        count = counts.setdefault(file, Counter())
        count["replies"] += 1
        if ours == letter:
            count["same"] += 1
            continue
        count["different" if ours and letter else "read here only" if ours else "unread here"] += 1
        end = " ".join(text.split())
        rows.setdefault(file, []).append(
            {
                "file": file,
                "reply": which,
                "published": letter or "(none)",
                "here": ours or verdict.status.value,
                "begins": end[:_MOST],
                "ends": end[-_MOST:] if len(end) > _MOST else "",
            }
        )
    return [
        row
        for file, count in counts.items()
        for row in [{"file": file, "counts": dict(count)}, *rows.get(file, [])]
    ]


def _cell(text: str) -> str:
    """A reply's text in a table: on one line, visible, and no Markdown."""
    shown = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"')
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in shown)
    return f"<code>{shown.translate(_ENTITIES)}</code>"


_ENTITIES = {ord(c): f"&#{ord(c)};" for c in "&<>|`*_[]$\\{}~"}


def _said(shape: dict[str, Any]) -> str:
    made = shape.get("generator")
    if made:
        head, tail = made["head"], made["tail"]
        return f"{_cell(head)} {_cell(made['repeat'])} × {made['times']:,} {_cell(tail)}"
    if "message" in shape:
        return _cell(json.dumps(shape["message"], ensure_ascii=False))
    return _cell(shape["text"])


def page() -> str:
    """The page."""
    shapes = [json.loads(line) for line in SHAPES.read_text(encoding="utf-8").splitlines()]
    rows = [json.loads(line) for line in DIFFERENCES.read_text(encoding="utf-8").splitlines()]
    parts = [
        f"""# What a reply is read as

A reply is untrusted text, and a wrong score is worse than none: what is doubtful stays unread,
with a status. All verdicts are read by one grammar (version {READER_VERSION}): a reply that is the
object asked for is read as such; reasoning goes first; quoted text never wins; a final reading
decides, else all readings must agree, or the reply is `ambiguous`; signs and decimals count, and no
other scale is rescaled; what touches the cut at the token limit is `truncated`. Reading never fails
and takes time linear in the reply; a reply of more than 200,000 characters is not read.

The tables are written by `docs/build_replies.py`: the shapes are those that the tests hold the
reader to (`tests/protocols/fixtures/replies.jsonl`, {len(shapes)}). `out_of_scale` is a number that
is no whole number of the scale.

`judgestats reparse RUN` reads the stored replies of a run again and shows what this version reads
otherwise; nothing is asked. The version that a run was read by stands in its `session.json`.
"""
    ]
    titles = {
        "pointwise": "Scores",
        "pairwise": "Pairs",
        "selection": "Selections",
        "correctness": "Correct or incorrect",
    }
    for protocol, title in titles.items():
        parts.append(
            f"## {title}\n\n| reply | ended by | on | read as | why |\n|---|---|---|---|---|"
        )
        for shape in (s for s in shapes if s["protocol"] == protocol):
            on = "-".join(map(str, shape["scale"])) if "scale" in shape else _options(shape)
            expected = shape["expect"]
            status = expected["status"].replace("out_of_range", "out_of_scale")
            read = f"**{expected['value']}**" if status == "ok" else f"`{status}`"
            ended = shape["finish_reason"] or ""
            parts.append(f"| {_said(shape)} | {ended} | {on} | {read} | {shape['why']} |")
        parts.append("")
    parts.append(
        "## Published replies\n\nReal completions of judges, read by their authors and here: every "
        "difference, one by one.\n\n| file | replies | same | read here only | unread here | "
        "different |\n|---|---|---|---|---|---|"
    )
    for row in (r for r in rows if "counts" in r):
        counts = row["counts"]
        cells = [
            str(counts.get(k, 0))
            for k in ("replies", "same", "read here only", "unread here", "different")
        ]
        parts.append(f"| {row['file']} | {' | '.join(cells)} |")
    parts.append("\n| file | reply | published | here | begins | ends |\n|---|---|---|---|---|---|")
    parts += [
        f"| {r['file']} | {r['reply']} | {r['published']} | {r['here']} | {_cell(r['begins'])} | "
        f"{_cell(r['ends'])} |"
        for r in rows
        if "counts" not in r
    ]
    return "\n".join(parts) + "\n"


def _options(shape: dict[str, Any]) -> str:
    options = shape.get("options", {})
    if "count" in options:
        return f"{options['count']} {options['labels']}"
    return {True: "ties", False: "no ties"}.get(options.get("ties"), "")


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    if options.data:
        lines = [json.dumps(row, ensure_ascii=False) for row in differences(options.data)]
        DIFFERENCES.write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = page()
    if options.check:
        if PAGE.read_text(encoding="utf-8") != text:
            sys.exit("docs/replies.md is not current: run python docs/build_replies.py")
        return
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
