"""Systems in order by verdicts and by scores: as they were drawn, and refused where not linked."""

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import add_scores
from judgestats.analysis.audit import audit
from judgestats.data import parsed_frame
from judgestats.errors import InputError

QUALITY = {"x": 1.0, "y": 0.2, "z": -1.2}


def pairs(*, questions=40, first=0.6, met=("xy", "yz", "xz"), seed=1):
    """Verdicts in both orders; what stands first gains `first` logits."""
    rng, rows = np.random.default_rng(seed), []
    for q in range(questions):
        for a, b in met:
            for order in ("ab", "ba"):
                place = first if order == "ab" else -first
                won = rng.random() < 1 / (1 + np.exp(QUALITY[b] - QUALITY[a] - place))
                rows.append(
                    {
                        "judge": "j", "temperature": 1.0, "item_id": f"q{q}-{a}{b}",
                        "cluster": f"q{q}", "replicate": 0, "status": "ok", "order": order,
                        "choice": "a" if won else "b", "system_a": a, "system_b": b,
                    }
                )  # fmt: skip
    return pd.DataFrame(rows)


def scores(*, judges=("mild", "strict"), seed=2):
    """The strict judge, 2 points lower, scores x on all questions and the others on a third."""
    rng, rows = np.random.default_rng(seed), []
    for q in range(60):
        for system, quality in QUALITY.items():
            answer = quality + 0.5 * rng.normal()
            for judge in judges:
                if len(judges) > 1 and q % 3 and (judge == "strict") != (system == "x"):
                    continue
                shown = answer - (2.0 if judge == "strict" else 0) + 0.5 * rng.logistic()
                score = 1.0 + np.digitize(shown, [-2.5, -1.2, 0, 1.2])
                rows.append({"judge": judge, "item_id": f"q{q}", "cluster": f"q{q}",
                             "system": system, "score": score})  # fmt: skip
    return pd.DataFrame(rows)


def test_systems_that_never_met_are_not_put_in_order():
    lone = parsed_frame(pairs(met=("xy",)).assign(system_b="w"))
    told = pd.concat([pairs(met=("xy",)), lone[lone.columns.intersection(pairs().columns)].assign(
        system_a="v", item_id=lambda t: t["item_id"] + "w")])  # fmt: skip
    found = audit(parsed_frame(told), n_resamples=19)
    assert not [r for r in found.results if r.id.startswith("strength.")]
    assert "not put in order by pairwise verdicts" in " ".join(map(str, found.limitations))


def audited(table):
    return audit(parsed_frame(table), n_resamples=19)


def test_what_length_adds_is_taken_out_of_strengths():
    """The judge adds 1 to the log odds for each unit of log length; z is the worst, and longest."""
    rng, rows = np.random.default_rng(5), []
    typical = {"x": 300, "y": 400, "z": 2500}
    for q in range(150):
        for a, b in ("xy", "yz", "xz"):
            long = {s: typical[s] * np.exp(0.6 * rng.normal()) for s in (a, b)}
            for order in ("ab", "ba"):
                odds = QUALITY[a] - QUALITY[b] + np.log(long[a] / long[b])
                won = rng.random() < 1 / (1 + np.exp(-odds))
                rows.append({"judge": "j", "temperature": 1.0, "replicate": 0, "status": "ok",
                             "item_id": f"q{q}-{a}{b}", "cluster": f"q{q}", "order": order,
                             "choice": "a" if won else "b", "system_a": a, "system_b": b,
                             "length_a": long[a], "length_b": long[b]})  # fmt: skip
    table = pd.DataFrame(rows)
    found = audited(table)
    taken_out = {s: found[f"strength.{s}.j, T=1"] for s in QUALITY}
    for system, truth in QUALITY.items():
        assert taken_out[system].interval.low < truth < taken_out[system].interval.high
    assert found["strength.slope_of_covariate.j, T=1"].estimate == pytest.approx(1, abs=0.35)
    naive = audited(table.drop(columns=["length_a", "length_b"]))["strength.z.j, T=1"]
    assert naive.estimate > taken_out["z"].estimate + 1


def test_an_audit_takes_lengths_out_where_every_row_has_them():
    rng = np.random.default_rng(3)
    table = pairs().assign(length_a=lambda t: rng.integers(90, 900, len(t)), length_b=300)
    found = audited(table)
    slope = found["strength.slope_of_covariate.j, T=1"]
    assert slope.interval.low < 0 < slope.interval.high
    assert "length" in {r.key for r in found.rows}
    part = audited(table.assign(length_b=[0, *[300] * (len(table) - 1)]))
    assert "length" not in {r.key for r in part.rows}
    assert "Lengths were not taken out" in " ".join(map(str, part.limitations))


def by_scores(**changes):
    table = scores().rename(columns={"system": "author"})
    return table.assign(author=table["author"].replace(changes))


def test_scores_stand_beside_verdicts_and_what_contradicts_is_said():
    found = add_scores(audited(pairs()), by_scores(), level=0.95, seed=0)
    beside = {r.id: r.result for r in found.described}
    assert beside["order_in_common.j, T=1"].estimate == 1
    assert (beside["rank.x.by scores"].estimate, beside["rank.x.j, T=1"].estimate) == (1, 1)
    assert beside["points.x.by scores"].interval.low > 0
    assert [r.key for r in found.rows][:4] == ["rank_x", "rank_y", "rank_z", "order_in_common"]
    assert {"j, T=1", "by scores"} == set(found.rows[0].cells)
    assert "all in the same order" in found.headlines[0].says
    [board] = [r.result.table for r in found.described if r.id.startswith("leaderboard.")]
    assert {"strength", "points", "best_rank_points"} <= set(board)
    raw = scores().groupby("system")["score"].mean()
    assert raw["x"] < raw["y"]  # the strict judge's x looks worse than it is
    assert list(board["rank_points"]) == [1, 2, 3]  # on the answers that both judges scored
    turned = add_scores(audited(pairs()), by_scores(x="z", z="x"), level=0.95, seed=0)
    assert turned.headlines[0].says == "by verdicts x leads, by scores z"
    assert "Scores rank them in the reverse order" in " ".join(map(str, turned.limitations))


def test_scores_beside_need_an_order_and_systems():
    with pytest.raises(InputError, match="not verdicts between three or more named systems"):
        add_scores(audited(pairs(met=("xy",))), by_scores(), level=0.95, seed=0)
    with pytest.raises(InputError, match=r"a number \(score\) and its system"):
        add_scores(audited(pairs()), pairs(), level=0.95, seed=0)
    apart = by_scores()
    apart = apart[(apart["judge"] == "strict") == (apart["author"] == "x")]
    with pytest.raises(InputError, match="no answer was scored by all 2 judges"):
        add_scores(audited(pairs()), apart, level=0.95, seed=0)
    with pytest.raises(InputError, match="only one of the two tables has z"):
        add_scores(audited(pairs()), by_scores().query("author != 'z'"), level=0.95, seed=0)
    lone = by_scores()[["score", "author"]].assign(cluster="q")
    with pytest.raises(InputError, match="all of one question"):
        add_scores(audited(pairs()), lone, level=0.95, seed=0)


def test_an_audit_puts_systems_in_order_and_takes_the_place_out():
    found = audit(parsed_frame(pairs()), n_resamples=19)
    strengths = {s: found[f"strength.{s}.j, T=1"] for s in QUALITY}
    for system, truth in QUALITY.items():
        assert strengths[system].interval.low < truth < strengths[system].interval.high
    place = found["strength.order_effect.j, T=1"]
    assert place.interval.low < 0.6 < place.interval.high
    [board] = [r.result.table for r in found.described if r.id.startswith("leaderboard.")]
    assert list(board["system"]) == ["x", "y", "z"]
    assert (board["best_rank"] <= [1, 2, 3]).all()
    assert {"strength_x", "position"} <= {r.key for r in found.rows}
    [row] = [r for r in found.rows if r.key == "strength_x"]
    assert row.beside == {"rank, all at once": "rank.x.j, T=1"}
