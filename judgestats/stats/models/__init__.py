"""Models of scores and verdicts: cumulative logits, Bradley-Terry, facets, crossed effects."""
