"""Batch mode: the same plan through a provider's Batch API, at half the price."""
