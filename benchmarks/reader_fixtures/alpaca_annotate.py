"""AlpacaEval's own PairwiseAnnotator on canned answers: `python alpaca_annotate.py URL OUT`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ.update(OPENAI_API_KEY="none", OPENAI_BASE_URL=sys.argv[1])
from alpaca_eval import annotators

here = Path(__file__).parent
items = json.loads((here / "items.json").read_text())
out = Path(sys.argv[2])


def outputs(model):
    """One model's answers, as AlpacaEval wants them."""
    return [
        {
            "instruction": i["question"],
            "output": i["answers"][model],
            "generator": model,
            "dataset": i["category"],
        }
        for i in items
    ]


annotations = []
for seed in range(3):
    annotator = annotators.PairwiseAnnotator(
        annotators_config=here / "alpaca" / "sim_judge" / "configs.yaml",
        caching_path=None,
        base_dir=here / "alpaca",
        seed=seed,
    )
    annotations += annotator.annotate_head2head(
        outputs_1=outputs("model-y"), outputs_2=outputs("model-x")
    )
out.write_text(json.dumps(annotations, indent=2))
