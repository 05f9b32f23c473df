"""A metric that takes a list of repeats (lm-evaluation-harness's own take one reply)."""


def first_match(references, predictions, **_):
    """Whether the first of the repeats is the target."""
    said = predictions[0]
    said = said[0] if isinstance(said, list) else said
    return float(said == references[0])
