"""How sure is a number: resampling, permutation, families of tests, and what a result is."""
