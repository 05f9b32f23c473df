"""The first screen of a probe names it as its row does."""

from judgestats.cli import main


def test_a_probe_that_decides_is_named_by_its_row(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/m.db")
    given = ["--probes", "padding", "--limit", "8", "--repeats", "2", "--report", "none"]
    assert main(["run", "probe", *given, "--resamples", "99"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Padding is too close to ±" in said
    assert "fair_padding" not in said
