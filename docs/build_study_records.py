"""The records of re-examined studies that ship, from the authors' data.

    python docs/build_study_records.py FOLDER [STUDY ...]   # a folder with one of each study's name

Studies of which only the printed tables are re-examined need none: the tables ship.

Writes ``judgestats/studies/records/NAME.zip``: what was computed, with the digests of the files it
was computed from; no row of the data.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from judgestats import __version__
from judgestats.runner.run import write_records_of
from judgestats.studies import Options, load_study, study_names
from judgestats.studies.records import ABOUT, examined

RECORDS = Path(__file__).resolve().parents[1] / "judgestats" / "studies" / "records"
PRINTED = {
    "grade_score": "arxiv_2406_12043_tables_1_3.csv",
    "crowd_comparative": "arxiv_2502_12501_tables_1_4.csv",
}
FIXED = (2020, 1, 1, 0, 0, 0)


def build(name: str, data: Path) -> None:
    """Re-examine one study and pack what was found."""
    options = Options()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        records = write_records_of(examined(load_study(name), data, options), options, folder)
        digests = {
            path.relative_to(data).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(data.rglob("*"))
            if path.is_file()
        }
        about = records | {
            "source": f"{records['source']}, as computed for judgestats {__version__} "
            "(records that ship)",
            "digests": digests,
            "version": __version__,
        }
        text = json.dumps(about, indent=1, ensure_ascii=False, allow_nan=False)
        (folder / ABOUT).write_text(text + "\n", encoding="utf-8", newline="\n")
        with zipfile.ZipFile(RECORDS / f"{name}.zip", "w") as packed:
            for path in sorted(p for p in folder.rglob("*") if p.is_file()):
                info = zipfile.ZipInfo(path.relative_to(folder).as_posix(), FIXED)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.create_system = 3  # as on Unix, wherever it is built
                packed.writestr(info, path.read_bytes(), compresslevel=9)


if __name__ == "__main__":
    for study in sys.argv[2:] or study_names():
        with tempfile.TemporaryDirectory() as printed:
            if study in PRINTED:
                shutil.copy(RECORDS.parent / "paper_tables" / PRINTED[study], printed)
            build(study, Path(printed) if study in PRINTED else Path(sys.argv[1]) / study)
