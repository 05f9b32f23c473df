"""Many facets: marginal maximum likelihood against R; fit by hand; recovery; refusals."""

import time

import numpy as np
import pytest
from scipy.special import softmax

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


def test_fit_is_residuals_over_their_expectation_at_the_posterior_of_quality(reference):
    d = reference.data("mfrm48x4x3")
    out = fit(d)
    judge = np.array([out["judge", str(j)].severity.estimate for j in d.judge])
    prompt = np.array([out["prompt", str(p)].severity.estimate for p in d.prompt])
    levels, said = np.unique(d.score, return_inverse=True)
    steps = np.arange(levels.size)
    tau = np.concatenate([[0.0], np.cumsum([t.estimate for t in out.thresholds])])
    x = np.linspace(-6, 6, 601)
    eta = out.mean + out.sigma * x - (judge + prompt)[:, None]
    p = softmax(eta[:, :, None] * steps - tau, axis=2)
    answers, at = np.unique(d.answer, return_inverse=True)
    loglik = np.zeros((answers.size, x.size))
    np.add.at(loglik, at, np.log(p[np.arange(len(d)), :, said]))
    posterior = softmax(loglik - x**2 / 2, axis=1)[at]
    mean = p @ steps
    variance = p @ steps**2 - mean**2
    squared = (said[:, None] - mean) ** 2
    for name, facet in (("judge", d.judge), ("prompt", d.prompt)):
        for v in out.facets[name]:
            w = posterior[facet.astype(str) == v.level]
            of, expected = (m[facet.astype(str) == v.level] for m in (squared, variance))
            assert v.infit == pytest.approx(np.sum(w * of) / np.sum(w * expected), abs=1e-7)
            assert v.outfit == pytest.approx(np.sum(w * of / expected) / v.n, abs=1e-7)
            assert v.n == len(w)


def long(wide):
    n, j = wide.shape
    return {
        "scores": wide.to_numpy().ravel(),
        "answer": np.repeat(np.arange(n), j),
        "facets": {"judge": np.tile(np.arange(j), n)},
    }


def test_thresholds_are_near_those_of_conditional_likelihood(reference):
    """R's eRm conditions quality away: another estimator of the same steps."""
    out = many_facet(**long(reference.data("rsm200x6")))
    theirs = np.array(list(reference.value("rsm200x6", "rsm_cml_thresholds").values()))
    theirs = theirs.reshape(6, -1)
    severity = np.array([v.severity.estimate for v in out.facets["judge"]])
    ours = severity[:, None] + np.array([t.estimate for t in out.thresholds])
    # eRm's first threshold of all is 0 and their mean is not: compare up to that constant.
    assert ours - ours.mean() == pytest.approx(theirs - theirs.mean(), abs=0.12)
    assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.998
    assert "disordered" not in [n.code for n in out.notes]


def test_a_level_that_is_nowhere_the_likeliest_is_named():
    rng = np.random.default_rng(12)
    answer, judge, said = simulated(rng, n=300)
    rare = np.where((said == 2) & (rng.random(said.size) < 0.9), 3, said)
    out = many_facet(rare, answer=answer, facets={"judge": judge})
    told = {n.code: n.message for n in out.notes}
    assert told["disordered"].startswith("Thresholds are not in order around 2: that level")


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
    with pytest.raises(InputError, match="there is no judge 'x'"):
        many_facet(said, answer=answer, facets={"judge": judge})["judge", "x"]


def test_levels_nobody_used_are_named():
    rng = np.random.default_rng(11)
    answer, judge, said = simulated(rng, n=60)
    out = many_facet(np.array([1, 3, 7, 10])[said - 1], answer=answer, facets={"judge": judge})
    assert out.levels == (1.0, 3.0, 7.0, 10.0)
    told = {n.code: n.message for n in out.notes}
    assert told["unused_levels"].startswith("Nobody gave 2, 4, 5, 6, 8 and more")
