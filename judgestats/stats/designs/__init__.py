"""In what shape do judgments come: cells, blocks, groups, counts, matrices, crossed facets."""
