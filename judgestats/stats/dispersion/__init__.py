"""Do repeated judgments scatter differently: variance ratios, tests of spread, equivalence."""
