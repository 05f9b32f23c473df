"""Do verdicts agree: with each other, with people, and wherever an option stands."""
