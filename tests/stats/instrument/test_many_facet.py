"""Many facets: marginal and joint maximum likelihood against R; recovery; what is refused."""

from __future__ import annotations

import time

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import many_facet


def fit(d, **options):
    facets = {"judge": d.judge, "prompt": d.prompt}
    return many_facet(d.score, answer=d.answer, facets=facets, **options)


def free(out, facet):
    return [v.severity.estimate for v in out.facets[facet]][:-1]


def test_marginal_maximum_is_that_of_two_codes(reference):
    out = fit(reference.data("mfrm48x4x3"))
    want = list(reference.value("mfrm48x4x3", "mfrm_mml_coef").values())
    ours = [out.mean, np.log(out.sigma), *free(out, "judge"), *free(out, "prompt")]
    ours += [t.estimate for t in out.thresholds[:-1]]
    assert ours == pytest.approx(want, abs=2e-7)
    assert out.loglik == pytest.approx(reference.value("mfrm48x4x3", "mfrm_mml_loglik"), abs=1e-7)
    errors = list(reference.value("mfrm48x4x3", "mfrm_mml_se").values())
    model = out.std_errors_model
    assert [*model["mean"], *model["judge"], *model["prompt"], *model["tau"]] == pytest.approx(
        [errors[0], *errors[2:]], abs=1e-6
    )
    assert out.change < 1e-8


def test_joint_maximum_is_that_of_clogit_to_the_last_digit(reference):
    out = fit(reference.data("mfrm48x4x3"), method="jml")
    want = list(reference.value("mfrm48x4x3", "mfrm_jml_coef").values())
    errors = list(reference.value("mfrm48x4x3", "mfrm_jml_se").values())
    ours = [*out.quality, *free(out, "judge"), *free(out, "prompt")]
    ours += [t.estimate for t in out.thresholds[:-1]]
    assert ours == pytest.approx(want, abs=1e-11)
    assert list(out.quality_sd) == pytest.approx(errors[:48], abs=1e-11)
    assert out.std_errors_model["judge"] == pytest.approx(errors[48:51], abs=1e-11)
    assert out.loglik == pytest.approx(reference.value("mfrm48x4x3", "mfrm_jml_loglik"), abs=1e-9)
    for facet in ("judge", "prompt"):
        for kind in ("infit", "outfit"):
            theirs = list(reference.value("mfrm48x4x3", f"mfrm_jml_{kind}_{facet}").values())
            assert [getattr(v, kind) for v in out.facets[facet]] == pytest.approx(theirs, abs=1e-10)
    key = "mfrm_jml_separation_reliability_answers"
    assert out.reliability == pytest.approx(reference.value("mfrm48x4x3", key), abs=1e-10)
    assert [n.code for n in out.notes] == ["joint"]


def long(wide):
    n, j = wide.shape
    return {
        "scores": wide.to_numpy().ravel(),
        "answer": np.repeat(np.arange(n), j),
        "facets": {"judge": np.tile(np.arange(j), n)},
    }


@pytest.mark.parametrize(("name", "kind"), [("rsm200x6", "rsm"), ("pcm250x6", "pcm")])
def test_thresholds_are_near_those_of_conditional_likelihood(name, kind, reference):
    """R's eRm conditions quality away: another estimator of the same steps."""
    thresholds = "rating-scale" if kind == "rsm" else "partial-credit"
    out = many_facet(**long(reference.data(name)), thresholds=thresholds)
    theirs = np.array(list(reference.value(name, f"{kind}_cml_thresholds").values())).reshape(6, -1)
    severity = np.array([v.severity.estimate for v in out.facets["judge"]])
    tau = np.array([t.estimate for t in out.thresholds]).reshape(-1, theirs.shape[1])
    ours = severity[:, None] + tau
    # eRm's first threshold of all is 0 and their mean is not: compare up to that constant.
    assert ours - ours.mean() == pytest.approx(theirs - theirs.mean(), abs=0.12)
    assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.998
    assert ("disordered" in [n.code for n in out.notes]) == bool((np.diff(theirs) < 0).any())


def simulated(rng, n=200, severity=(-0.6, 0.0, 0.6), halo=0.0, systems=0):
    judge = np.tile(np.arange(len(severity)), n)
    answer = np.repeat(np.arange(n), len(severity))
    lift = np.linspace(0.6, -0.6, systems)[answer % systems] if systems else 0.0
    theta = rng.normal(0, 1.2, n)[answer] + lift
    theta = (
        theta
        - np.asarray(severity)[judge]
        + halo * rng.normal(size=(n // 4 + 1, 9))[answer // 4, judge]
    )
    step = np.array([-1.2, 0.0, 1.2])
    logits = np.cumsum(np.column_stack([np.zeros(theta.size), *(theta - t for t in step)]), axis=1)
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return answer, judge, 1 + (rng.random(theta.size)[:, None] > p.cumsum(axis=1)).sum(axis=1)


def test_severities_are_recovered_where_questions_move_a_judge():
    rng, hits, spread = np.random.default_rng(6), [], []
    for _ in range(25):
        answer, judge, said = simulated(rng, n=160, halo=0.8)
        out = many_facet(said, answer=answer, facets={"judge": judge}, cluster=answer // 4)
        found = out["judge", "2"].severity
        hits.append(found.interval.low <= 0.6 * 0.85 <= found.interval.high)
        spread.append(found.estimate)
    assert np.mean(spread) == pytest.approx(0.55, abs=0.08)  # a halo flattens the logits a little
    assert np.mean(hits) >= 0.8


def test_systems_rated_by_different_judges_are_put_on_one_scale():
    rng = np.random.default_rng(7)
    answer, judge, said = simulated(rng, n=900, systems=3)
    system = answer % 3
    # The best system meets the strict judges, the worst the mild ones; a few answers link them.
    partly = np.where(system == 0, judge >= 1, np.where(system == 2, judge <= 1, True))
    kept = partly | (answer < 200)
    d = [v[kept] for v in (said, answer, judge, system)]
    out = many_facet(d[0], answer=d[1], facets={"judge": d[2]}, system=d[3])
    assert [v.level for v in out.systems] == ["0", "1", "2"]
    assert [v.severity.estimate for v in out.systems] == pytest.approx([0.6, 0, -0.6], abs=0.2)
    assert out.system_ranks == ((1, 1), (2, 2), (3, 3))
    points = [v.points for v in out.systems]
    assert points[0].interval.low > points[1].interval.high
    assert sum(p.estimate for p in points) == pytest.approx(0, abs=1e-9)
    raw = [d[0][d[3] == s].mean() for s in range(3)]
    assert points[0].estimate - points[2].estimate > raw[0] - raw[2]


def test_fit_finds_the_copy_and_the_noisy_judge():
    rng = np.random.default_rng(8)
    answer, judge, said = simulated(rng, n=400, severity=(0, 0, 0, 0, 0))
    noise = rng.integers(1, 5, said.size)
    said = np.where(judge == 4, noise, said)
    out = many_facet(said, answer=answer, facets={"judge": judge})
    assert out["judge", "4"].infit > 1.3
    assert all(out["judge", str(j)].infit < 1.0 for j in range(4))
    answer, judge, said = simulated(rng, n=600)
    fair = many_facet(said, answer=answer, facets={"judge": judge})
    assert [v.infit for v in fair.facets["judge"]] == pytest.approx([1, 1, 1], abs=0.08)


def test_thousands_of_answers_take_seconds():
    rng = np.random.default_rng(9)
    answer, judge, said = simulated(rng, n=4000, severity=(-0.5, -0.2, 0, 0.2, 0.5))
    began = time.process_time()
    out = many_facet(said, answer=answer, facets={"judge": judge}, cluster=answer // 4)
    assert time.process_time() - began < 10
    assert [v.severity.estimate for v in out.facets["judge"]] == pytest.approx(
        [-0.5, -0.2, 0, 0.2, 0.5], abs=0.06
    )
    assert out.change < 1e-7


def test_what_leaves_severity_unknown_is_refused():
    rng = np.random.default_rng(10)
    answer, judge, said = simulated(rng, n=40)

    def refused(match, **given):
        options = {"answer": answer, "facets": {"judge": judge}, **given}
        with pytest.raises(InputError, match=match):
            many_facet(options.pop("scores", said), **options)

    refused("every answer was rated once", answer=np.arange(said.size))
    half = np.where(answer < 20, judge % 2, 2 + judge % 2)
    refused("no answer links judge 0, 1 with 2, 3", facets={"judge": half})
    refused("cannot be told apart within answers", facets={"judge": judge, "prompt": judge + 10})
    refused("judge has one level", facets={"judge": np.zeros(said.size)})
    refused("an answer belongs to one system", system=judge)
    refused("all scores are equal", scores=np.ones(said.size))
    refused("at least one facet", facets={})
    refused("systems are compared by method='mml'", system=answer % 2, method="jml")
    never = np.where((judge == 0) & (said == 4), 3, said)
    refused("judge 0 never gives 4", scores=never, thresholds="partial-credit")
    with pytest.raises(InputError, match="there is no judge 'x'"):
        many_facet(said, answer=answer, facets={"judge": judge})["judge", "x"]


def test_levels_nobody_used_are_named():
    rng = np.random.default_rng(11)
    answer, judge, said = simulated(rng, n=60)
    out = many_facet(np.array([1, 3, 7, 10])[said - 1], answer=answer, facets={"judge": judge})
    assert out.levels == (1.0, 3.0, 7.0, 10.0)
    told = {n.code: n.message for n in out.notes}
    assert told["unused_levels"].startswith("Nobody gave 2, 4, 5, 6, 8 and more")
