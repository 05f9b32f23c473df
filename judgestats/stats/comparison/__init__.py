"""Do conditions differ: tests of ranks, means, rates and trends, and the sizes of differences."""
