"""Strengths from pairs: R's glm with clubSandwich, Davidson by optim; refusals; coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from judgestats.errors import InputError
from judgestats.stats import bradley_terry

SAID = {"first": "a", "second": "b", "tie": "tie"}


def fitted(d, **options):
    said = d.verdict.map(SAID)
    options = {"cluster": d.question, **options}
    return bradley_terry(said, system_a=d["first"], system_b=d["second"], **options)


def against(out, reference: str) -> dict[str, float]:
    base = out[reference].estimate
    return {s: out[s].estimate - base for s in out.systems if s != reference}


@pytest.mark.parametrize(("name", "last"), [("bt5x40", "s5"), ("posbias_gpt4", "vicuna-13b-v1.3")])
def test_strengths_and_sandwiches_are_those_of_r(name, last, reference):
    d = reference.data(name)
    out = fitted(d[d.verdict != "tie"])
    want = {k.strip("`"): v for k, v in reference.value(name, "bt_order_coef").items()}
    errors = {k.strip("`"): v for k, v in reference.value(name, "bt_order_se_CR1").items()}
    assert out["order_effect"].estimate == pytest.approx(want.pop("order"), abs=1e-9)
    assert out["order_effect"].std_error == pytest.approx(errors.pop("order"), abs=1e-7)
    assert against(out, last) == pytest.approx(want, abs=1e-9)
    at = {s: i for i, s in enumerate(out.systems)}
    v = out.covariance
    for s, se in errors.items():
        i, j = at[s], at[last]
        assert np.sqrt(v[i, i] + v[j, j] - 2 * v[i, j]) == pytest.approx(se, abs=1e-7)


@pytest.mark.parametrize(("name", "last"), [("bt5x40", "s5"), ("posbias_gpt4", "vicuna-13b-v1.3")])
def test_davidson_and_the_chance_of_the_other_order_are_those_of_two_codes(name, last, reference):
    out = fitted(reference.data(name))
    want = dict(reference.value(name, "davidson_coef"))
    errors = reference.value(name, "davidson_se_cluster")
    assert out.loglik == pytest.approx(reference.value(name, "davidson_loglik"), abs=1e-8)
    assert out["log_tie"].estimate == pytest.approx(want.pop("log_nu"), abs=1e-7)
    assert out["log_tie"].std_error == pytest.approx(errors["log_nu"], abs=1e-7)
    assert out["order_effect"].estimate == pytest.approx(want.pop("order"), abs=1e-7)
    assert against(out, last) == pytest.approx(want, abs=1e-7)
    swaps = reference.value(name, "davidson_rank_swap")
    for row in out.pairs:
        clustered, _ = swaps.get(f"{row.a}|{row.b}") or swaps[f"{row.b}|{row.a}"]
        assert row.effect == pytest.approx(clustered, abs=1e-7)


def test_a_covariate_is_that_of_a_logistic_regression(reference):
    d = reference.data("pref600")
    said = np.where(d.judge_first == 1, "a", "b")
    columns = {c: d[c] for c in ("human", "log_length_ratio", "style")}
    # Two systems of equal strength that took turns: only order and covariates are left.
    flip = np.arange(len(d)) % 2 == 0
    out = bradley_terry(
        said, system_a=np.where(flip, "x", "y"), system_b=np.where(flip, "y", "x"),
        covariates=columns, cluster=d.question,
    )  # fmt: skip
    want, errors = reference.value("pref600", "coef"), reference.value("pref600", "se_CR1")
    assert out["order_effect"].estimate == pytest.approx(want["(Intercept)"], abs=0.02)
    for name in columns:
        assert out[name].estimate == pytest.approx(want[name], abs=0.02)
        assert out[name].std_error == pytest.approx(errors[name], rel=0.02)
    assert [n.code for n in out.notes] == ["no_ties"]


def test_ranks_hold_all_at_once():
    truth = np.array([0.4, 0.2, 0.0, -0.6])
    best = np.argsort(np.argsort(-truth)) + 1
    i, j = np.array([(a, b) for a in range(4) for b in range(4) if a != b]).T
    rng, hits, certain = np.random.default_rng(5), 0, 0
    for _ in range(40):
        q = np.repeat(np.arange(40), 12)
        s = truth + rng.normal(0, 0.6, (40, 4))
        first, second = np.tile(i, 40), np.tile(j, 40)
        p = expit(s[q, first] - s[q, second] + 0.3)
        said = np.where(rng.random(480) < p, "a", "b")
        out = bradley_terry(said, system_a=first, system_b=second, cluster=q)
        at = dict(zip(out.systems, out.ranks, strict=True))
        hits += all(at[str(k)][0] <= best[k] <= at[str(k)][1] for k in range(4))
        certain += at["3"] == (4, 4)
    assert hits >= 0.9 * 40
    assert certain > 20


def test_what_has_no_finite_strength_is_refused():
    def fit(said, a, b, **options):
        return bradley_terry(said, system_a=a, system_b=b, **options)

    with pytest.raises(InputError, match="no comparison links a, b with c, d"):
        fit(["a", "b"] * 4, ["a", "b", "c", "d"] * 2, ["b", "a", "d", "c"] * 2)
    with pytest.raises(InputError, match="x won every comparison with the others"):
        fit(["a", "a", "b", "b", "a", "b"], list("xxyyyz"), list("yzxzzy"))
    with pytest.raises(InputError, match="without bound"):
        fit(["a"] * 8, list("xyxyxyxy"), list("yxyxyxyx"))
    with pytest.raises(InputError, match="cannot meet itself"):
        fit(["a"], ["x"], ["x"])
    with pytest.raises(InputError, match="none of 2 verdicts could be read"):
        fit([None, None], ["x", "x"], ["y", "y"])
    one = fit(["a", "b", "a"] * 5, ["x"] * 15, ["y"] * 15)
    assert [n.code for n in one.notes] == ["no_ties", "one_order", "few_clusters"]
    assert not [t for t in one.others if t.name == "order_effect"]
    with pytest.raises(InputError, match="no term is named 'q'"):
        one["q"]
