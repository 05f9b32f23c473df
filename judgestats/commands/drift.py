"""``judgestats drift A B``: the same judge and items, at two dates or versions; runs or files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgestats.commands.arguments import Args, given_options, reading_options
from judgestats.commands.audit import asking
from judgestats.commands.declarations import COMMANDS
from judgestats.commands.options import TABLE, repeated_options
from judgestats.data.readers.labels import with_labels, with_stated_words
from judgestats.errors import InputError, guard_output
from judgestats.files.tables import is_parquet
from judgestats.results import Results, change_outcome, change_sentences, write_results
from judgestats.runner import display as console
from judgestats.runner.display import announce_progress, finish, show
from judgestats.tracking.runs import facts_of_run, run_judgments, simulated_in

if TYPE_CHECKING:
    from pandas import DataFrame

    from judgestats.data.readers.row_checks import OpenQuestionError

_CANNOT_TELL = 3
_MOST_ANSWERS = 3
_SIDES = ("first", "second")
_LONGEST = 88
"""Letters of a command that a screen of 100 columns shows in one line."""


class _Way(NamedTuple):
    """One reading of a file: its judgments, the options, what they mean, and a preview."""

    frame: DataFrame
    said: str
    meaning: str
    preview: tuple[str, ...]


def drift_command(arguments: Args) -> int:
    """Compare two runs and print what has changed.

    Parameters
    ----------
    arguments : Args
        ``first``, ``second``, ``baseline``, ``pair``, ``values``,
        ``fail_if_changed``, ``resamples``, ``seed`` and ``out``.

    Returns
    -------
    int
        1 for a significant change with `fail_if_changed` or `fail_unless_same`. 3 for an
        inconclusive result with `fail_unless_same`. Else 0.

    Raises
    ------
    InputError
        The runs cannot be compared; or nothing could be tested where `fail_if_changed` asks.
    """
    pairs = {}
    for text in arguments.pair:
        # Conditions hold '=' themselves (T=0.5), so that a pair is split at ' -> '.
        one, sign, two = text.partition("->")
        if not sign or not one.strip() or not two.strip():
            raise InputError(f"drift: --pair expects 'FIRST -> SECOND', got {text!r}.")
        pairs[one.strip()] = two.strip()
    with console.use_output(console.parse_output_options(arguments)):
        results = _drift(arguments, pairs)
    if not (arguments.fail_if_changed or arguments.fail_unless_same):
        return 0
    claims = {headline.claim for headline in results.headlines}
    if claims == {"undefined"}:
        flag = "--fail-unless-same" if arguments.fail_unless_same else "--fail-if-changed"
        raise InputError(f"drift: {flag}: nothing could be tested: {change_sentences(results)[0]}")
    outcome = change_outcome(results.headlines)
    if outcome == "CANNOT TELL" and arguments.fail_unless_same:
        return _CANNOT_TELL
    return int(outcome == "CHANGED")


def _drift(arguments: Args, pairs: dict[str, str]) -> Results:
    """Compare, print, and write where that is asked for."""
    if Path(arguments.out).suffix in {".html", ".pdf", ".docx", ".md", ".tex", ".csv"}:
        raise InputError(
            f"drift: --out takes a folder or a .json file, got {arguments.out!r}. Give a folder; "
            "`judgestats report FOLDER --out FILE` makes its report."
        )
    from judgestats.analysis.drift import drift
    from judgestats.analysis.drift_tests import with_parameters

    runs = [arguments.first, arguments.second, arguments.baseline]
    words = {k: v for k, v in reading_options(arguments).items() if k != "labels"}
    of_files = [name for name in words if name != "values"]
    if of_files and not any(run and _holds_judgments(run) for run in runs):
        raise InputError(
            f"drift: --{of_files[0]} says how a file is read, and runs are named. Leave it out."
        )

    with asking("drift", arguments.first, arguments.second):
        first, second = _both(arguments, words)
    with announce_progress("Comparing the runs"):
        analysis = drift(
            first,
            second,
            baseline=_load_judgments(arguments.baseline, "", words) if arguments.baseline else None,
            pairs=pairs or None,
            n_resamples=arguments.resamples,
            seed=arguments.seed,
            omega_model=arguments.omega_model,
            target="these items" if arguments.target == "these-items" else "new items",
            margin=arguments.margin,
            duplicates=arguments.duplicates,
        )
    whose = (arguments.first, arguments.second)
    if not any(map(_holds_judgments, whose)):
        analysis = with_parameters(analysis, *map(facts_of_run, whose))
    names = [console.file_called(Path(run)) if Path(run).exists() else _short(run) for run in whose]
    about = {
        "kind": "drift",
        "title": f"drift: {names[0]} to {names[1]}",
        "command": _command(arguments),
        **simulated_in(facts_of_run(run) for run in runs if run and not _holds_judgments(run)),
    }
    results = analysis.records(about)
    whole = f"{_command(arguments, short=True)} --all"
    following = [whole if len(whole) <= _LONGEST else "the same command with --all"]
    try:
        kept, compared = _write_outputs(arguments.out, results, first, second, pairs)
    finally:  # shown also where it cannot be written: it took its time
        show(results)
    if compared is not None:
        from judgestats.runner.record import record_crosscheck

        with guard_output(Path(arguments.out)):
            results = record_crosscheck(Path(arguments.out), compared, results)
    finish(results, following=[*kept, *following], further=_readings(first, second))
    return results


def _both(arguments: Args, words: Mapping[str, Any]) -> tuple[DataFrame, DataFrame]:
    """The judgments of both; a question has answers that were tried on both files.

    Raises
    ------
    OpenQuestionError
    """
    from judgestats.commands.parsing import parse_options
    from judgestats.data.readers.row_checks import OpenQuestionError

    ways: list[list[_Way]] = []
    asked: list[OpenQuestionError] = []
    for side in _SIDES:
        run, labels = getattr(arguments, side), arguments.labels if side == "first" else ""
        own, said = dict(words), [w for w in repeated_options(arguments) if w[:9] != "--labels "]
        said = said if _holds_judgments(run) else []
        if text := getattr(arguments, f"{side}_options"):
            given = parse_options(f"judgestats drift --{side}-options", TABLE, text)
            own |= {k: v for k, v in reading_options(given).items() if k != "labels"}
            said.append(text)
        try:
            frame = _load_judgments(run, labels, own)
            ways.append([_Way(frame, " ".join(said), "", ())])
        except OpenQuestionError as question:
            asked.append(question.drop_options("labels"))
            ways.append([
                _Way(
                    _load_judgments(run, labels, answer.options.set_options(), quiet=True),
                    shlex.join(answer.options.words()), answer.meaning, answer.preview,
                )
                for answer in asked[-1].answers
            ])  # fmt: skip
    if not asked:
        return ways[0][0].frame, ways[1][0].frame
    raise _question(asked[0], ways)


def _question(asked: OpenQuestionError, ways: Sequence[Sequence[_Way]]) -> InputError:
    """The ways of reading the files that can be compared, those that are alike first."""
    from judgestats.analysis.drift import drift
    from judgestats.data.readers.options import TableOptions
    from judgestats.data.readers.row_checks import Answer, OpenQuestionError

    answers: list[Answer] = []
    refusal: InputError = asked
    for both in sorted(product(*ways), key=lambda pair: pair[0].said != pair[1].said):
        if answers and both[0].said != both[1].said and len(min(ways, key=len)) > 1:
            break  # both were asked about, and some answers are those of both
        try:
            drift(*(way.frame for way in both), n_resamples=19)
        except InputError as error:
            refusal = error
            continue
        one, two = (way.said for way in both)
        apart = [(f"--{side}-options", said) for side, said in zip(_SIDES, (one, two), strict=True)]
        said = shlex.split(one) if one == two else [w for each in apart if each[1] for w in each]
        told = {way.meaning: way.preview for way in both if way.meaning}
        answers.append(
            Answer(
                meaning="; ".join(told), options=TableOptions(),
                preview=next(iter(told.values())),
                words=tuple(said),
            )
        )  # fmt: skip
    if not answers:
        return refusal
    return OpenQuestionError(asked.source, asked.question, tuple(answers[:_MOST_ANSWERS]))


def _readings(first: DataFrame, second: DataFrame) -> dict[str, Any]:
    """How each of two files was read; runs are not read again."""
    from judgestats.data.readers.interpretation import reading_of

    frames = {"first": first, "second": second}
    read = {side: reading_of(f) for side, f in frames.items() if "roles" in f.attrs}
    return {"reading": read} if read else {}


def _write_outputs(
    out: str, results: Results, first: DataFrame, second: DataFrame, pairs: dict[str, str]
) -> tuple[list[str], DataFrame | None]:
    """Write what was asked for; gives where it is, and the judgments of a folder."""
    if not out:
        return [], None
    from judgestats.analysis.drift_tests import both_runs, match_conditions

    path = Path(out)
    if path.suffix == ".json":
        write_results(path, results)
        return [f"Results: {out}"], None
    write_results(path / "results.json", results)
    compared, _ = both_runs(first, second, match_conditions(first, second, pairs=pairs or None))
    with guard_output(path):
        (path / "data").mkdir(exist_ok=True)
        compared.to_parquet(path / "data" / "judgments.parquet", index=False)
    return [f"Results: {path}"], compared


def _command(arguments: Args, *, short: bool = False) -> str:
    """The command that repeats the comparison; `short` cuts runs' ids."""
    kept = _short if short else str
    runs = [shlex.quote(kept(run)) for run in (arguments.first, arguments.second)]
    repeated = [option for option in COMMANDS["drift"].options if option.group != "Output"]
    return " ".join(["judgestats drift", *runs, *given_options(repeated, arguments)])


def _holds_judgments(named: str) -> bool:
    """Whether a file, or a folder of Parquet, is named rather than a run."""
    from judgestats.api import is_own_run

    path = Path(named)
    return path.is_file() or (path.is_dir() and is_parquet(path) and not is_own_run(path))


def _load_judgments(
    run: str, labels: str, words: Mapping[str, Any], *, quiet: bool = False
) -> DataFrame:
    """The judgments of a run, or of a file as `judgestats analyze` reads it, with labels."""
    from judgestats.api import read_judgments

    if not _holds_judgments(run):
        frame = run_judgments(run)
        values = words.get("values")
        frame = with_stated_words(frame, values) if values else frame
        return with_labels(Path(run), frame, Path(labels), values=values) if labels else frame
    frame = read_judgments(run, **words, **({"labels": labels} if labels else {}))
    notes = (f"Note: {note}" for note in frame.attrs["notes"])
    if not quiet:
        console.print_status(
            *(f"{run}: {said}" for said in (*frame.attrs.get("understood", ()), *notes))
        )
    return frame


def _short(run: str) -> str:
    """A run's id by its beginning; a path as it was given."""
    return run if Path(run).exists() else run[: console.SHORT]
