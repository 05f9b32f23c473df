"""Robustness of a judge: probes, wording, scale use, fairness between sources."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
