"""docs/findings: public judgments re-examined, one page a data set, from the records that ship.

    python docs/build_findings.py            # write the pages and their figures
    python docs/build_findings.py --check    # CI: they are what the records say (no data needed)

No number is typed here: every one is in ``judgestats/studies/records/NAME.zip``, which
``docs/build_study_records.py`` computed from the files whose digests each page lists.
"""

# ruff: noqa: E501 (sentences of the pages)

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgestats.reporting.runs import load_run
from judgestats.reporting.sections.figures import answer_figure
from judgestats.studies import VERDICTS, load_study, study_names
from judgestats.studies.claims import verdicts
from judgestats.studies.records import shipped_records

FOLDER = Path(__file__).resolve().parent / "findings"


class Told(NamedTuple):
    """What a page says besides its records: the lesson, and whose data they are."""

    lesson: str
    data: str
    licence: str


TOLD: Mapping[str, Told] = {
    "schroeder2024": Told(
        lesson="A reliability coefficient of letters coded as numbers is not 0 where nothing is there to be found: shuffle the data and look.",
        data="Verdicts of three judges, 55 questions, 100 replications, five temperatures; 302,400 verdicts on Head-to-Tail.",
        licence="facts taken from the authors' public results",
    ),
    "grade_score": Told(
        lesson="An average of harmonic means cannot exceed the harmonic mean of the averages: hold a printed table to itself before you build on it.",
        data="240 printed numbers: three scores of ten judges under four prompts, with and without a random option.",
        licence="facts printed in the paper",
    ),
    "crowd_comparative": Told(
        lesson="Five benchmarks are five observations, and one of them may carry the average: look at the gain set by set, and at what a judgment costs.",
        data="Printed accuracies of five judges, eight strategies, twelve selections and fourteen trained judges on five sets, and scores of twelve trained models.",
        licence="facts printed in the paper",
    ),
    "llmasjudge": Told(
        lesson="Compare spreads within items: a test on pooled variances of the same items finds what is not there and misses what is.",
        data="Variances and scores of three judges on MT-Bench at eleven temperatures, and judgments of 1,000 human pairs.",
        licence="facts taken from the authors' public results",
    ),
    "rewardbench2_k8": Told(
        lesson="A single score on a coarse scale ties. Count a tie as an error, and averaging looks three times as good as it is.",
        data="Eight scores of each of four answers to some 1,730 questions, by three judges; the first answer is the right one.",
        licence="MIT, Composo AI",
    ),
    "llmbar": Told(
        lesson="A judge can be consistent and wrong: agreement with itself after a swap says nothing about being right.",
        data="Pairwise verdicts in both orders by six LLMs under up to fifteen prompts, with experts' gold.",
        licence="MIT, Princeton Natural Language Processing",
    ),
    "position_bias": Told(
        lesson="Position is what order adds to repetition: subtract one from the other before you call it bias.",
        data="Pairwise verdicts of nine judges, both orders, three repetitions each.",
        licence="MIT, Slimshilin",
    ),
    "pandalm": Told(
        lesson="A ratio of two F1 scores is not a share of somebody's ability; test the judge against each person instead.",
        data="999 pairs labelled by three people, by PandaLM-7B and by GPT-3.5.",
        licence="Apache-2.0",
    ),
    "alt_test": Told(
        lesson="Before a judge is asked to replace an annotator, ask whether an annotator could.",
        data="Labels of 3 to 10 people on five sets (SummEval, MT-Bench, CEBaB aspects and stars, narrative framing).",
        licence="MIT and CC BY 4.0, by set",
    ),
    "arena_pairs": Told(
        lesson="A judge's win rate is not people's. A hundred labels mend it, and say how far it was off.",
        data="877 pairs of answers with a person's winner and one judge's pick.",
        licence="MIT, Chen Lab",
    ),
}


def row(*cells: object) -> str:
    """One line of a table; nothing in a cell breaks it."""
    return f"| {' | '.join(' '.join(str(c).split()).replace('|', '/') for c in cells)} |"


def counted(claims: list[Mapping[str, Any]]) -> str:
    """How many claims became what."""
    counts = {v: sum(c["verdict"] == v for c in claims) for v in VERDICTS}
    return ", ".join(f"{n} {verdicts(v, n)}" for v, n in counts.items() if n)


def page(name: str, about: Mapping[str, Any], picture: str) -> str:
    """A data set's page."""
    told, study = TOLD[name], load_study(name)
    lines = [
        f"# {study.title}",
        "",
        f"**{told.lesson}**",
        "",
        f"{about['sentence']} Source: {study.source}. {told.data}",
        "",
    ]
    if picture:
        lines += [picture, ""]
    lines += ["| claimed | what holds | why |", "|---|---|---|"]
    for claim in about["claims"]:
        printed = f"{claim['claim']} *Printed: {claim['published']}.*"
        lines.append(row(printed, f"**{claim['verdict']}**", claim["because"]))
    lines += ["", "## How each was tested", "", "| claim | then | gives here | now |", "|---|---|---|---|"]  # fmt: skip
    lines += [
        row(c["claim"], c["test_then"], c["reproduced"] or "-", c["test_now"])
        for c in about["claims"]
    ]
    lines += [
        "",
        "## Again, on your copy",
        "",
        "```",
        f"judgestats run replicate -P study={name}                # these records, with report",
        f"judgestats run replicate -P study={name} -P data=FOLDER # computed anew",
        "```",
        "",
        f"`FOLDER` holds {study.layout}. Licence of the data: {told.licence}; judgestats ships what it computed from them, no row of them. Computed with version {about['version']} from:",
        "",
        "| file | SHA-256 |",
        "|---|---|",
        *(row(file, f"`{digest}`") for file, digest in about["digests"].items()),
        "",
    ]
    return "\n".join(lines)


def overview(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The table over all data sets."""
    claims = [c for about in found.values() for c in about["claims"]]
    lines = [
        "# Findings: public judgments re-examined",
        "",
        f"{len(found)} published data sets, {len(claims)} claims: {counted(claims)}. Each claim is tested as its study did, on the same data, and then by the test that the question calls for. *Open*: the data show neither the claim nor its contrary. `docs/build_findings.py` writes these pages from records that ship with judgestats; `judgestats run replicate -P study=NAME` shows each as a report.",
        "",
        "| data set | lesson | claims |",
        "|---|---|---|",
    ]
    for name, about in found.items():
        lines.append(
            row(
                f"[{load_study(name).title}]({name}.md)",
                TOLD[name].lesson,
                counted(about["claims"]),
            )
        )
    lines += ["", "## All claims", "", "| data set | claimed | what holds | why |", "|---|---|---|---|"]  # fmt: skip
    for name, about in found.items():
        for claim in about["claims"]:
            first = claim["because"].split(". ")[0].rstrip(".") + "."
            lines.append(
                row(f"[{name}]({name}.md)", claim["claim"], f"**{claim['verdict']}**", first)
            )
    return "\n".join([*lines, ""])


def pages(*, draw: bool) -> dict[Path, str]:
    """All pages by file; figures are drawn beside them where asked for."""
    found, written = {}, {}
    for name in sorted(study_names(), key=list(TOLD).index):
        with tempfile.TemporaryDirectory() as scratch:
            about = shipped_records(name, Path(scratch))
            figure = answer_figure(load_run(scratch))
            picture = ""
            if figure is not None:
                if draw:
                    FOLDER.mkdir(exist_ok=True)
                    figure.figure.save(FOLDER / f"{name}.png")
                alt = figure.caption.replace("[", "(").replace("]", ")")
                picture = f"![{alt}]({name}.png)\n\n*{figure.caption}*"
            found[name] = about
            written[FOLDER / f"{name}.md"] = page(name, about, picture)
    return {FOLDER / "index.md": overview(found), **written}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    fresh = pages(draw=not check)
    if check:
        stale = [p.name for p, text in fresh.items()
                 if not p.exists() or p.read_text(encoding="utf-8") != text]  # fmt: skip
        stale += [p.stem for p in fresh if f"({p.stem}.png)" in fresh[p] and not p.with_suffix(".png").exists()]  # fmt: skip
        stale += [p.name for p in FOLDER.glob("*.md") if p not in fresh]
        if stale:
            sys.exit(f"docs/findings: {', '.join(stale)}: run python docs/build_findings.py")
    else:
        for path, text in fresh.items():
            path.write_text(text, encoding="utf-8")
