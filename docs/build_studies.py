"""docs/studies.md, the studies cell by cell, from the records and printed tables that ship.

    python docs/build_studies.py            # write the page
    python docs/build_studies.py --check    # CI: it is what the records say

No number on the page is typed: those of re-examinations are read from their records, printed ones
from the tables of the papers, designs from ``preset=paper``.
"""

# ruff: noqa: E501 (sentences of the page)

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import sys
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from judgestats.items.item_sets import STUDY_DATA
from judgestats.results.change_screen import claim_outcome
from judgestats.runner.design import load_design
from judgestats.studies.paper_tables import grade_score_table, read_printed

PAGE = Path(__file__).resolve().parent / "studies.md"
RECORDS = PAGE.parents[1] / "judgestats" / "studies" / "records"
SIMULATED = PAGE.parent / "simulations" / "simulated_studies.csv"
_SIMULATED = {
    "C": (
        "Simulated judges: `sim-positional` prefers the first option, `sim-typical` hardly does. An unrelated option affects "
        "neither, so its true change is 0."
    ),
    "D": (
        "Simulated judges: other judgments help `sim-crowd` and do not help `sim-crowd-deaf`. The true gains of "
        "`sim-crowd-deaf` by `cce` are 0. A vote may still gain, because noise averages out."
    ),
}
_STUDY = {
    "llmasjudge": "A. Consistency of numerical gradings (LLMasJudge)",
    "schroeder2024": "B. McDonald's omega of LLM judgments (arXiv 2412.12509)",
    "grade_score": "C. Grade Score (arXiv 2406.12043)",
    "crowd_comparative": "D. Crowd comparative evaluation (arXiv 2502.12501)",
}
_ASKS = {
    "temperature": "temperature",
    "distribution": "temperature -P preset=distribution",
    "judges": "judges",
    "guidelines": "guidelines",
    "reasoning": "reasoning",
    "alignment": "alignment",
    "small_variance": "temperature",
    "more_trials": "alignment",
    "table2": "omega -P preset=same_answers",
    "at_zero": "omega -P preset=same_answers",
    "table1": "omega -P preset=same_answers",
    "benchmarks": "omega -P preset=same_answers",
    "head_to_tail": "head_to_tail",
    "answers": "omega",
    "option": "grade_score",
    "prompts": "grade_score",
    "best": "grade_score",
    "bound": "grade_score",
    "repeats": "grade_score -P preset=repeats",
    "gain": "crowd -P answerers=...",
    "price": "crowd -P answerers=...",
    "selection": "crowd -P answerers=...",
    "scaling": "crowd -P answerers=...",
    "points": "crowd -P answerers=...",
    "rejection": "rejection_sampling -P answerers=...",
}
"""The experiment that repeats a claim with new calls, by the beginning of the claim's id."""


def row(cells: Iterable[str]) -> str:
    """One line of a table; nothing in a cell breaks it."""
    return f"| {' | '.join(' '.join(str(c).split()).replace('|', '/') for c in cells)} |"


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A table in Markdown."""
    return [row(head), f"|{'---|' * len(head)}", *map(row, rows), ""]


def rerun_command(claim: str) -> str:
    """The command that asks judges again for a claim, where one does."""
    if claim == "distilled":
        return "[the steps of Table 2](training-data.md)"
    for begin, command in _ASKS.items():
        if claim.startswith(begin):
            preset = "" if "preset=" in command else " -P preset=paper"
            name, space, rest = command.partition(" ")
            return f"`judgestats run {name}{preset}{space}{rest}`"
    return ""


def packed(name: str, member: str) -> str:
    """A file of a study's records."""
    with zipfile.ZipFile(RECORDS / f"{name}.zip") as records:
        return records.read(member).decode("utf-8")


def study(name: str) -> list[str]:
    """Every claim of a re-examined study."""
    about = json.loads(packed(name, "about.json"))
    again = (
        f"`judgestats items fetch {name}` and `-P data=data/{name}` compute it again on the authors' files."
        if name in STUDY_DATA
        else "Its verdicts are not public. Its printed tables are re-examined; they ship with judgestats."
    )
    lines = [
        f"## {_STUDY[name]}",
        "",
        (
            f"`judgestats run replicate -P study={name}` shows the re-examination, also without a network. "
            f"{again} {about['sentence']}"
        ),
        "",
    ]
    lines += table(
        ["claim", "printed", "its test on the same data", "test that the question requires",
         "outcome and reason", "command"],
        (
            [
                claim["claim"],
                claim["published"],
                claim["reproduced"] or claim["test_then"],
                claim["test_now"],
                f"**{claim_outcome(claim['verdict'])}**: {claim['because']}",
                rerun_command(claim["id"]),
            ]
            for claim in about["claims"]
        ),
    )  # fmt: skip
    return lines


def number(value: str) -> str:
    """A cell of the records to three decimals; nothing where there is none."""
    return f"{float(value):.3f}" if value not in ("", "nan") else ""


def omega_cells() -> list[str]:
    """Table 2 of study B, cell by cell."""
    rows: Iterable[Mapping[str, str]] = csv.DictReader(
        io.StringIO(packed("schroeder2024", "tables/conditions.csv"))
    )
    lines = [
        (
            "Table 2, cell by cell: the printed omega, the same procedure on the authors' verdicts, and its null: "
            "each question's replications shuffled. The last columns are the vote-share "
            "reliability, which ignores the order of letters."
        ),
        "",
    ]
    return lines + table(
        ["cell", "printed omega", "ours", "shuffled: mean", "95th percentile", "vote-share reliability", "95% interval"],
        (
            [
                r["condition"],
                *(number(r[k]) for k in ("printed_omega", "published_omega",
                  "published_omega_null_mean", "published_omega_null_q95", "vote_share")),
                f"[{number(r['vote_share_low'])}, {number(r['vote_share_high'])}]"
                if r["vote_share_low"] else "",
            ]
            for r in rows
        ),
    )  # fmt: skip


def presets(name: str) -> list[tuple[str, str]]:
    """An experiment's presets, each in one cell."""
    return [
        (
            preset,
            ", ".join(f"`{k}={v}`" for k, v in given.items())
            .replace(",", ", ")
            .replace(",  ", ", "),
        )
        for preset, given in load_design(name).presets.items()
    ]


def designs() -> list[str]:
    """Values that ``preset=paper`` sets, one experiment per row."""
    names = {
        "A": ("temperature", "judges", "guidelines", "reasoning", "alignment"),
        "B": ("omega", "head_to_tail"),
        "C": ("grade_score",),
        "D": ("crowd", "rejection_sampling"),
    }
    rows = [
        [s, f"`{n}`", f"`{preset}`", wording(n), told]
        for s, ns in names.items()
        for n in ns
        for preset, told in presets(n)
    ]
    return ["## The designs", "", "Values that `-P preset=` sets. A test compares every declared cell with the study.", "",
            *table(["study", "experiment", "preset", "wording", "sets"], rows), *_BOTH]  # fmt: skip


_BOTH = [
    (
        "`-P wording=both` sends every arm as the study wrote it, and as a paraphrase. Experiments that score single answers "
        "send all eight bundled wordings. The table *Does the claim survive rewording?* has a row per contrast and wording. It "
        "gives the contrast under both wordings, and their ratio or difference with a 95% CI over items. The verdict is *same "
        "direction and equivalent within the margin*, *same direction*, *opposite* (a significant difference), or *not "
        "estimable*. The margins are declared in `experiments/`: 1/1.5 to 1.5 for ratios of variances, .05 for shares. MLflow has the counts as `rewording/...`."
    ),
    "",
]


def wording(name: str) -> str:
    """Whether the study's own text can be sent, and the command that fetches it."""
    study = load_design(name).study
    return f"original available (`items fetch {study}`)" if study else "paraphrase only"


def grade_score() -> list[str]:
    """Study C: its printed table cell by cell, and the command that repeats it."""
    frame = grade_score_table().table
    wide = frame.pivot_table(
        index=["judge", "prompt"],
        columns="random_option",
        values=["grade_score", "harmonic_of_means", "impossible"],
    )
    lines = [
        (
            f"`judgestats run grade_score -P preset=paper` repeats the study with ten judges ({len(wide)} cells, each with and "
            "without the random option). It needs keys of five providers. It shows each printed cell next to your run's, as the "
            "paper computes it and corrected for chance. `-P preset=repeats` repeats a complete run. The table has the printed "
            "cells. *At most* is the bound from the printed averages of both parts (**bold**: exceeded):"
        ),
        "",
    ]
    rows = []
    for (judge, prompt), v in wide.iterrows():
        cells = [judge, str(prompt)]
        for option in (False, True):
            shown = f"{v['grade_score', option]:.4f}"
            cells += [
                f"**{shown}**" if v["impossible", option] else shown,
                f"{v['harmonic_of_means', option]:.4f}",
            ]
        rows.append([*cells, f"{v['grade_score', True] - v['grade_score', False]:+.4f}"])
    return lines + table(
        [
            "judge",
            "prompt",
            "printed",
            "at most",
            "printed, with the random option",
            "at most",
            "the option's change",
        ],
        rows,
    )


def crowd() -> list[str]:
    """Study D: its printed tables, each average next to the mean of its row, and the command of each."""
    frame = read_printed("arxiv_2502_12501_tables_1_4.csv")
    lines = [
        (
            "Tables 1 and 4 and the scaling curve are one run (a key for GPT-4o, a server for the four open judges, "
            "`answerers=` the eleven models of your crowd, which the paper does not all name): `judgestats run crowd -P "
            "preset=paper -P answerers=...`. [Training data](training-data.md) has the commands of Table 2 and Table 3, and "
            "their results on tiny random models."
        ),
        "",
        (
            "The repository's README names prepared judgments, `results/rewardbench_mtbench_PoolModified_gpt-4o.json`. The "
            "repository has no such file (checked at 9738495)."
        ),
        "",
    ]
    for n, rows in frame.groupby("table"):
        wide = rows.assign(
            method=[
                f"{r.method}{'' if r.samples in ('', None) or (isinstance(r.samples, float) and math.isnan(r.samples)) else f' ({r.samples:,.0f})'}"
                for r in rows.itertuples()
            ]
        ).pivot_table(index=["judge_or_base", "method"], columns="set", values="value", sort=False)
        if "average" in wide:
            wide["mean of the row"] = wide.drop(columns="average").mean(axis=1).round(2)
        lines += [
            f"Table {n} as printed{', its averages computed again' if 'average' in wide else ''}:",
            "",
        ]
        lines += table(
            ["judge or base", "method", *map(str, wide.columns)],
            (
                [j, m, *("" if math.isnan(x) else f"{x:g}" for x in v)]
                for (j, m), v in wide.iterrows()
            ),
        )
    return lines


def simulated(study: str) -> list[str]:
    """Results of the default run of a study's experiment on simulated judges."""
    with SIMULATED.open(newline="", encoding="utf-8") as stream:
        cells = [r for r in csv.DictReader(stream) if r["study"] == study]
    conditions = [r["condition"].split(", ", 2) for r in cells]  # judge, temperature, levels
    judges = list(dict.fromkeys(judge for judge, *_ in conditions))
    asked = list(dict.fromkeys(r["what"] for r in cells))
    shown: dict[str, dict[tuple[str, str], str]] = {}
    for r, (judge, _, levels) in zip(cells, conditions, strict=True):
        bounds = f" [{r['low']}, {r['high']}]" if r["low"] else ""
        shown.setdefault(levels, {})[judge, r["what"]] = f"{r['estimate']}{bounds}"
    columns = [(judge, what) for what in asked for judge in judges]
    return [
        (
            f"{_SIMULATED[study]} The default run of `judgestats run {cells[0]['experiment']}`, at no cost "
            "([script](simulations/simulated_studies.py), [all figures](simulations/simulated_studies.csv)), 95% intervals:"
        ),
        "",
        *table(
            ["condition", *(f"{judge}: {what}" for judge, what in columns)],
            ([levels, *(of.get(column, "") for column in columns)] for levels, of in shown.items()),
        ),
    ]


def page() -> str:
    """The whole page."""
    lines = [
        "<!-- generated by docs/build_studies.py -->",
        "",
        "# The studies, cell by cell",
        "",
        (
            "Four studies of LLM judges. A row has a claim, the printed result, our result on the same data, the reason for a "
            "difference, and the command that repeats it."
        ),
        "",
        *designs(),
        *study("llmasjudge"),
        *study("schroeder2024"),
        *omega_cells(),
        *study("grade_score"),
        *grade_score(),
        *simulated("C"),
        *study("crowd_comparative"),
        *crowd(),
        *simulated("D"),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        if PAGE.read_text(encoding="utf-8") != page():
            sys.exit("docs/studies.md is not what the records say: python docs/build_studies.py")
    else:
        PAGE.write_text(page(), encoding="utf-8", newline="\n")
