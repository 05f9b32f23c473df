"""Re-examinations as they ship: what was computed from the authors' data, never the data.

A study's archive holds a run's files (plan, results, tables) and ``about.json``: whose data, with
which digests, under which version. ``docs/build_study_records.py`` writes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from judgestats.deadlines import scratch_folder
from judgestats.errors import InputError
from judgestats.files.guarded import Limits, archive
from judgestats.files.text import decode_json
from judgestats.studies.claims import Options, Replication, Study

__all__ = ["ABOUT", "examined", "shipped_records"]

ABOUT = "about.json"
_TOLD = {"title", "source", "sentence", "claims", "params", "metrics"}
_MOST_BYTES = 1_000_000_000
_MOST_FILES = 20_000
_DEEPEST = 4


def shipped_records(name: str, folder: Path) -> dict[str, Any]:
    """Unpack the records of a study into a folder, as a run's files.

    Parameters
    ----------
    name : str
    folder : Path

    Returns
    -------
    dict
        As ``about.json`` has it: ``source``, ``sentence``, ``claims``, ``digests`` and so on.

    Raises
    ------
    InputError
        If this installation holds none, or they are damaged.
    """
    kept = resources.files("judgestats.studies.records").joinpath(f"{name}.zip")
    if not kept.is_file():
        raise InputError(
            f"replicate: this installation holds no records of {name}. Give the study's data: "
            "data=FOLDER or data=ARCHIVE.zip."
        )
    try:
        with resources.as_file(kept) as path:
            _unpack(path, folder, ("",))
        about: dict[str, Any] = decode_json((folder / ABOUT).read_text(encoding="utf-8"))
        missing = sorted(_TOLD - set(about))
        damage = f"no {missing[0]} in {ABOUT}" if missing else ""
        for name_of_file in ("results.json", "plan.json"):
            decode_json((folder / name_of_file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        damage = str(error) or type(error).__name__
    if damage:
        raise InputError(
            f"replicate: the records of {name} that ship with judgestats are damaged ({damage}). "
            "Install judgestats again, or give the study's data: data=FOLDER or data=ARCHIVE.zip."
        )
    return about


def examined(study: Study, data: Path, options: Options) -> Replication:
    """Re-examine a study on the authors' folder or archive as it is.

    Parameters
    ----------
    study : Study
    data : Path
        A folder, or a zip file; archives inside a folder are looked into as well.
    options : Options

    Returns
    -------
    Replication

    Raises
    ------
    InputError
        If it holds no data of the study, or a file is damaged.
    """
    archives = [data] if data.is_file() else sorted(data.glob("*.zip")) if data.is_dir() else []
    if not archives:
        return study.examine(data, options)
    with scratch_folder("data") as scratch:
        place = Path(scratch)
        for packed in archives:
            _unpack(packed, place, (".json", ".csv", ".gz", ".jsonl"))
        if data.is_dir():
            for path in data.iterdir():
                if path.is_file() and path not in archives:
                    (place / path.name).symlink_to(path.resolve())
        reasons = []
        for folder in _folders(place):
            try:
                return study.examine(folder, options)
            except InputError as error:
                reasons.append(str(error))
        raise InputError(f"replicate: nothing in {data} can be read: {reasons[0]}")


def _unpack(packed: Path, place: Path, endings: tuple[str, ...]) -> None:
    """Files of a zip archive; its size is bounded, and no name leads out of the folder."""
    limits = Limits(members=_MOST_FILES, expanded_bytes=_MOST_BYTES, member_bytes=_MOST_BYTES)
    with archive(packed, limits) as members:
        for name in members.names:
            if name.endswith(endings) and not Path(name).name.startswith("."):
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(members.read(name))


def _folders(place: Path) -> Iterator[Path]:
    """The folder and those inside of it, the nearer ones first."""
    yield place
    inside = [p for p in place.rglob("*") if p.is_dir()]
    depth = {p: len(p.relative_to(place).parts) for p in inside}
    yield from sorted((p for p in inside if depth[p] <= _DEEPEST), key=lambda p: (depth[p], p))
