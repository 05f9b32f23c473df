"""The judge as a measuring instrument: its scale, its severity, its fairness between sources."""
