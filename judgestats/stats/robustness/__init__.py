"""Robustness of a judge: probes, wording, scale use, fairness between sources."""
