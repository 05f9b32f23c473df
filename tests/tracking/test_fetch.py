"""A run's files are found by any folder that a user would call the run's."""

import pytest

from judgestats.errors import InputError
from judgestats.results import Results, write_results
from judgestats.tracking import results_of_run, run_folder


def test_a_run_is_found_by_its_own_folder_and_by_that_of_its_artifacts(tmp_path):
    files = tmp_path / "1" / "abc" / "artifacts"
    files.mkdir(parents=True)
    with pytest.raises(InputError, match=r"holds no results\.json"):
        run_folder(str(files.parent), tmp_path)
    found = Results(kind="audit", experiment="audit", question="?", results=())
    write_results(files / "results.json", found)
    assert run_folder(str(files), tmp_path) == (files, "audit")
    assert run_folder(str(files.parent), tmp_path) == (files, "audit")
    assert results_of_run(str(files / "results.json")) == found
    (other := tmp_path / "scores.csv").write_text("a\n")
    with pytest.raises(InputError, match=r"is a file, and no run\. Give a run id"):
        run_folder(str(other), tmp_path)


@pytest.mark.parametrize("name", ["nosuch.csv", "folder/nosuch"])
def test_a_path_where_nothing_is_is_no_run_to_look_up(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)  # without a store
    with pytest.raises(InputError, match=f"there is no file or folder '{name}'"):
        run_folder(name, tmp_path)


def test_results_of_a_run_that_is_not_there_are_no_fault_of_the_store(workplace):
    with pytest.raises(InputError, match="there is no run 'nope'"):
        results_of_run("nope")
