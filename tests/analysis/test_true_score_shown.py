"""Page one and the screen answer "right?" and "true score", also of scores asked once."""

import numpy as np
import pandas as pd

import judgestats as js


def test_scores_asked_once_have_a_true_score_beside_their_agreement():
    rng = np.random.default_rng(0)
    people = rng.normal(6, 1, 300)
    frame = pd.DataFrame(
        {
            "item": range(300), "score": np.round(people + 1 + rng.normal(0, 0.5, 300), 1),
            "label": [f"{v:.1f}" if i < 60 else "" for i, v in enumerate(people)],
        }
    )  # fmt: skip
    rows = js.audit(frame, n_resamples=19, labels_drawn="random").analysis.rows
    keys = [r.key for r in rows]
    assert keys.index("truth") < keys.index("bias")
    assert keys.index("people") < keys.index("truth")
