"""Judges without a server: requests as files, a runner's answers into the journal, a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgestats.cli import main
from judgestats.collection import Journal, ingest
from judgestats.errors import InputError

RUN = ["temperature", "--judges", "my-model@http://gpus/v1", "--temperatures", "0.5,1"]
RUN += ["--limit", "3", "--responses", "1", "--repeats", "4"]
OFFLINE = [*RUN, "--mode", "offline", "--report", "none", "--resamples", "99"]


def answered(line: str, score: int) -> dict:
    """What a runner such as vLLM's writes of one request."""
    asked = json.loads(line)
    assert (asked["method"], asked["url"]) == ("POST", "/v1/chat/completions")
    assert asked["body"]["response_format"]["json_schema"]["strict"]
    message = {"role": "assistant", "content": json.dumps({"score": score})}
    body = {
        "id": "chat-1",
        "object": "chat.completion",
        "model": asked["body"]["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 200, "completion_tokens": 6, "total_tokens": 206},
    }
    return {
        "id": "vllm-1",
        "custom_id": asked["custom_id"],
        "response": {"status_code": 200, "request_id": "r", "body": body},
        "error": None,
    }


def refused(line: str) -> dict:
    error = {"error": {"message": "the prompt is too long", "code": 400}}
    return {
        "custom_id": json.loads(line)["custom_id"],
        "response": {"status_code": 400, "body": error},
        "error": None,
    }


@pytest.fixture
def queue(workplace, capsys):
    """Runs a command; gives what it said."""

    def run(*words: str, code: int = 0) -> str:
        assert main(list(words)) == code
        return " ".join(capsys.readouterr().out.split())

    return run


def test_a_run_without_a_server_from_requests_to_result(queue, workplace):
    """One runner answers its part, the other is stopped within a line and refuses one request."""
    said = queue("requests", "export", *RUN, "--parts", "2")
    asked = [(workplace / f"requests-{i}-of-2.jsonl").read_text().splitlines() for i in (1, 2)]
    assert sum(map(len, asked)) == 24
    assert "24 of 24 judgments are not in .judgestats/journal.sqlite" in said
    assert "vllm run-batch -i requests-1-of-2.jsonl" in said
    questions = [{json.loads(x)["body"]["messages"][-1]["content"] for x in part} for part in asked]
    assert not questions[0] & questions[1]

    whole = [json.dumps(answered(line, 3 + i % 5)) for i, line in enumerate(asked[0])]
    (workplace / "one.jsonl").write_text(
        "\n".join([*whole, "no JSON", '{"custom_id": "js-0"}', ""])
    )
    kept = [answered(asked[1][0], 7), refused(asked[1][1])]
    broken = json.dumps(answered(asked[1][2], 7))[:90]
    (workplace / "two.jsonl").write_text("\n".join([*map(json.dumps, kept), broken]))
    said = queue("requests", "import", "one.jsonl", "two.jsonl")
    assert f"{len(asked[0]) + 1} answers of 2 files read" in said
    assert "1 request not answered: bad_request" in said
    assert "the prompt is too long" in said
    assert "1 file ends within a line" in said
    assert "1 line is no result" in said
    assert "1 line is of requests that `judgestats requests export` did not write" in said
    assert "17 answers were there already" in queue("requests", "import", ".")

    said = queue("run", *OFFLINE, code=6)  # what is there is analysed, what is not is said
    assert "INCOMPLETE: 17 of 24 planned judgments" in said

    assert "7 of 24 judgments are not in" in queue("requests", "export", *RUN, "--to", "rest.jsonl")
    lines = (workplace / "rest.jsonl").read_text().splitlines()
    assert set(lines) == set(asked[1]) - {asked[1][0]}
    (workplace / "three.jsonl").write_text("\n".join(json.dumps(answered(x, 6)) for x in lines))
    queue("requests", "import", "three.jsonl")
    said = queue("run", *OFFLINE)
    assert "INCOMPLETE" not in said
    run_id = said.split("judgestats show ")[1].split()[0]
    assert "holds all that can be asked now" in queue("requests", "export", run_id)
    assert "24 of 48 judgments" in queue("requests", "export", run_id, "--repeats", "8")


def test_a_file_that_is_none_of_ours_changes_nothing(queue, workplace):
    (workplace / "other.jsonl").write_text('{"custom_id": "jsq-00.text..12345678"}\n')
    assert "0 answers of 1 file" in queue("requests", "import", "other.jsonl", code=1)
    with Journal(None) as journal:
        said = ingest([workplace / "other.jsonl"], journal)
    assert (said.new, said.foreign) == (0, 1)


def test_what_cannot_be_queued_is_refused(workplace):
    from judgestats.runner import load_design, write_requests

    design, to = load_design("temperature"), workplace / "x.jsonl"
    function = {"judges": "json:dumps"}
    with pytest.raises(InputError, match="mode=offline: json:dumps is a function"):
        write_requests(design, function, to)
    with pytest.raises(InputError, match="in files every judgment is a separate request"):
        write_requests(design, {"judges": "m@http://gpus/v1", "samples_per_request": "5"}, to)
    with pytest.raises(InputError, match="--parts must be at least 1"):
        write_requests(design, {}, to, parts=0)
    with pytest.raises(InputError, match=r"--to \. is a folder"):
        write_requests(design, {}, Path(), parts=2)
    few = {"judges": "m@http://gpus/v1", "limit": "2", "repeats": "2"}
    written = write_requests(design, few, to, parts=1_000_000_000)  # no size follows it
    assert len(written.files) == len(written.models) == 2
