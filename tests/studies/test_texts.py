"""Requests of the four studies, read from trees of the authors' structure with our own wording."""

import json
import zipfile
from pathlib import Path

import pytest

from judgestats.errors import InputError
from judgestats.studies.texts import StudyTexts, read_study, text_sha256

HERE = Path(__file__).parent / "standins"
ITEMS = {
    item["id"]: item
    for group in json.loads((HERE / "items.json").read_text("utf-8")).values()
    for item in group
}
EXPECTED = json.loads((HERE / "expected.json").read_text("utf-8"))


def texts_of(study: str) -> StudyTexts:
    return read_study(study, HERE / study)


def test_every_request_is_the_expected_one_to_the_byte() -> None:
    assert len(EXPECTED) == 93
    for row in EXPECTED:
        texts = texts_of(row["study"])
        record = texts.request(row["method"], ITEMS[row["item"]]).record()
        wanted = {name: row[name] for name in record}
        assert json.dumps(record) == json.dumps(wanted), (row["method"], row["item"])
        assert row["method"] in texts.methods


def test_an_archive_is_read_as_the_folder_is(tmp_path: Path) -> None:
    path = tmp_path / "repo.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.write(HERE / "llmasjudge" / "core.py", "LLMasJudge-e61075a/core.py")
    for method in ("pointwise/none/none", "pointwise/none/before"):
        packed = read_study("llmasjudge", path).request(method, ITEMS["s2"])
        assert packed == texts_of("llmasjudge").request(method, ITEMS["s2"])


@pytest.mark.parametrize(
    ("tree", "study", "method", "item"),
    [
        ("no_core", "llmasjudge", "pointwise/none/none", "s1"),
        ("renamed", "gradelab", "prompt_1/rotation_1", "o1"),
        ("notebook", "cce", "crowd/mtbench", "c1"),
    ],
)
def test_what_cannot_be_read_is_refused_by_file_and_name(
    tree: str, study: str, method: str, item: str
) -> None:
    lines = (HERE / "broken" / "expected.tsv").read_text("utf-8").splitlines()
    message = dict(line.split("\t") for line in lines)[tree]
    with pytest.raises(InputError) as raised:
        read_study(study, HERE / "broken" / tree / study).request(method, ITEMS[item])
    assert message in str(raised.value)


def test_a_prompt_that_is_computed_is_refused(tmp_path: Path) -> None:
    whole = (HERE / "llmasjudge" / "core.py").read_text("utf-8")
    (tmp_path / "core.py").write_text(whole.replace('f"""[Role]', 'open("x").read() + f"""[Role]'))
    with pytest.raises(InputError, match=r"core\.py: prompt is computed by open\(\)"):
        read_study("llmasjudge", tmp_path).request("pointwise/none/before", ITEMS["s1"])


def test_nothing_that_is_read_is_executed(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.write_text("still here")
    (tmp_path / "llm_eval.py").write_text(
        f"import os\nos.remove({str(gone)!r})\nclass Evaluator:\n"
        f"    def evaluate(self, outputs, instruction):\n"
        f"        eval_input = f'{{instruction}}' + str(os.remove({str(gone)!r}))\n"
    )
    with pytest.raises(InputError, match=r"computed by os\.remove\(\)"):
        read_study("gradelab", tmp_path).request("prompt_1/rotation_1", ITEMS["o1"])
    assert gone.exists()


@pytest.mark.parametrize(
    "template", ["{question.__class__}", "{question!r}", "{question:>999999999}", "{other}", "{"]
)
def test_a_template_is_filled_with_plain_names_alone(tmp_path: Path, template: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "prompt.py").write_text(
        f"MTBENCH_V2 = {{'system_prompt': 's', 'prompt_template': {template!r}}}\n"
    )
    with pytest.raises(InputError, match=r"prompt\.py: the template"):
        read_study("cce", tmp_path).request("vanilla", ITEMS["p1"])


def test_hostile_files_are_refused_in_one_sentence(tmp_path: Path) -> None:
    for content in (b"\xff\xfe", b"x = (", b"(" * 5_000, b"#" * (3 << 20)):
        (tmp_path / "core.py").write_bytes(content)
        with pytest.raises(InputError, match=r"core\.py"):
            read_study("llmasjudge", tmp_path).request("pointwise/none/none", ITEMS["s1"])
    long = "+".join(["'a'"] * 20_000)
    (tmp_path / "experiment_4a.py").write_text(f"REFERENCE = {long}\n")
    (tmp_path / "core.py").write_bytes((HERE / "llmasjudge" / "core.py").read_bytes())
    with pytest.raises(InputError, match=r"experiment_4a\.py"):
        read_study("llmasjudge", tmp_path).request("pointwise/none/none+reference", ITEMS["s1"])


def test_instructions_of_a_paper_stand_between_quotation_marks() -> None:
    paper = read_study("cce", HERE / "paper" / "crowd.txt")
    for method, start in (("removal", "Stand-in removal text."), ("key_points", "Stand-in key")):
        [message] = paper.request(method, {}).messages
        assert message["content"].startswith(start)
        assert "“" not in message["content"]
    with pytest.raises(InputError, match=r"MAIN\.ipynb is not in .*give the folder"):
        paper.request("crowd/mtbench", {})
    with pytest.raises(InputError, match="only the paper has"):
        texts_of("cce").request("removal", {})


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="Did you mean"):
        read_study("gradelabs", HERE)
    with pytest.raises(InputError, match="unknown request"):
        texts_of("cce").request("vanila", ITEMS["p1"])
    with pytest.raises(InputError, match="needs the field 'question'"):
        texts_of("llmasjudge").request("pointwise/none/none", {"response": "x"})


def test_another_file_than_the_pinned_one_is_named() -> None:
    source = texts_of("llmasjudge").request("pointwise/none/none", ITEMS["s1"]).source
    assert source.startswith("core.py lines 111-123 (sha256 ")
    assert "core.py differs from the pinned file" in source
    assert "its own text is sent" in source


def test_the_order_of_keys_is_part_of_a_digest() -> None:
    assert text_sha256({"score": 1, "explanation": 2}) != text_sha256(
        {"explanation": 2, "score": 1}
    )
