"""The server for agents: read-only tools below a root, by a protocol that stdout belongs to."""

import asyncio
import json
import re
import sys
import types
from pathlib import Path

import pytest

from judgestats.cli import main
from judgestats.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tools(tmp_path, monkeypatch, capsys):
    """What the server offers, by name; next to it, how each tool is described."""
    offered, hints = {}, {}

    class MCPServer:
        def __init__(self, name, **_):
            assert name == "judgestats"

        def tool(self, *, name, description, annotations, structured_output):
            assert description
            assert structured_output
            hints[name] = annotations

            def keep(function):
                offered[name] = function
                return function

            return keep

        def run(self):
            pass

    server, described = types.ModuleType("mcp.server.mcpserver"), types.ModuleType("mcp.types")
    server.MCPServer, described.ToolAnnotations = MCPServer, types.SimpleNamespace
    modules = {"mcp": types.ModuleType("mcp"), "mcp.server": types.ModuleType("mcp.server")}
    for name, module in (modules | {s.__name__: s for s in (server, described)}).items():
        monkeypatch.setitem(sys.modules, name, module)
    (tmp_path / "root").mkdir()
    assert main(["mcp", "--root", str(tmp_path / "root")]) == 0
    assert capsys.readouterr().out == ""

    def call(name, **given):
        return asyncio.run(offered[name](**given))

    return types.SimpleNamespace(call=call, hints=hints, root=tmp_path / "root")


@pytest.fixture
def file(tools):
    rows = ["item,verdict,human"]
    rows += [f"q{i},{'pass' if i % 3 else 'fail'},{'pass' if i % 4 else 'fail'}" for i in range(60)]
    (tools.root / "v.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return "v.csv"


def test_only_one_tool_writes(tools):
    assert [n for n, hint in tools.hints.items() if not hint.read_only_hint] == ["plan_labels"]
    assert not any(hint.open_world_hint for hint in tools.hints.values())


def test_a_file_is_read_decided_and_planned(tools, file):
    found = tools.call("doctor", path=file)
    assert found["reading"]["counts"]["judgments"] == 60
    gate = tools.call("check", path=file, require={"tpr": 0.99})
    assert (gate["exit_code"], gate["verdicts"][0]["deciding"]) == (1, "tpr")
    plan = tools.call("plan_labels", path=file, n=20, out="labels.csv")
    assert len(set(plan["items"])) == 20
    assert (tools.root / "labels.csv").exists()
    again = tools.call("plan_labels", path=file, n=20, out="labels.csv")
    assert "is there already" in again["error"]


def test_what_is_asked_back_comes_as_a_document(tools):
    (tools.root / "w.csv").write_text("item,verdict\nq1,gut\nq2,pass\nq3,pass\n", encoding="utf-8")
    found = tools.call("check", path="w.csv")
    assert found["exit_code"] == 2
    assert "gut" in json.dumps(found)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.csv",
        "/etc/passwd",
        "link.csv",
        "https://host/v.csv",
        "--json",
        "a\0b",
        "\ud800.csv",
        "s3://b/c",
    ],
)
def test_no_path_leads_out_of_the_root(tools, path):
    outside = tools.root.parent / "secret.csv"
    outside.write_text("item,verdict\nq1,pass\n", encoding="utf-8")
    (tools.root / "link.csv").symlink_to(outside)
    for name, given in (
        ("doctor", {"path": path}),
        ("analyze", {"path": "link.csv", "labels": path}),
        ("drift", {"before": path, "after": path}),
        ("plan_labels", {"path": "link.csv", "n": 1, "out": path}),
        ("price", {"experiment": "temperature", "parameters": {"items": path}}),
        ("price", {"experiment": "temperature", "parameters": {"items": f"table:{path}"}}),
    ):
        found = tools.call(name, **given)
        assert found["exit_code"] == 2, (name, found)
        assert "q1" not in json.dumps(found)


@pytest.mark.parametrize(
    "parameters",
    [
        {"judges": "os:system"},
        {"judges": "a,keys.yaml"},
        {"judges": "gguf:/x"},
        {"remover": "os:system"},
        {"journal": "j"},
    ],
)
def test_a_price_runs_nothing(tools, parameters):
    found = tools.call("price", experiment="temperature", parameters=parameters)
    assert found["exit_code"] == 2
    assert "price: " in found["error"]


def test_what_no_file_or_option_can_hold_is_refused(tools, file):
    assert "control character" in tools.call("doctor", path=file, map="\ud800=verdict")["error"]
    long = tools.call("plan_labels", path=file, n=5, out="y" * 5_000)
    assert long["exit_code"] == 2


def test_a_price_is_the_dry_run(tools):
    given = {"judges": "sim-typical", "limit": "4", "repeats": "3", "temperatures": "0.5,1"}
    found = tools.call("price", experiment="temperature", parameters=given)
    assert found["exit_code"] == 0, found
    assert any(re.search(r"\b24\b", line) for line in found["lines"])
    assert not list(tools.root.iterdir())


def test_a_term_is_explained_by_its_declaration(tools):
    found = tools.call("explain", term="icc(1,1)")
    assert (found["key"], found["better"]) == ("icc_1_1", "higher")
    assert "Did you mean ICC(1," in tools.call("explain", term="ICC(1,2)")["error"]


def test_without_the_extra_its_installation_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    assert main(["mcp"]) == 2
    assert "judgestats[mcp]" in capsys.readouterr().err


def test_the_skill_is_in_the_open_format():
    path = ROOT / "skills" / "judge-audit" / "SKILL.md"
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == path.parent.name
    assert len(fields["description"]) <= 1_024
    assert len(body.splitlines()) <= 200
    commands = set(re.findall(r"`judgestats (\w+)", body))
    assert commands <= set(COMMANDS)
