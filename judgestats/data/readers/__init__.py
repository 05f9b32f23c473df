"""Readers: judgments that people already have, into the one validated frame."""

from judgestats.data.readers.registry import read_judgments, reader_names

__all__ = ["read_judgments", "reader_names"]
