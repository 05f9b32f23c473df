"""Readers: judgments that people already have, into the one validated frame."""

from __future__ import annotations

from judgestats.data.readers.registry import read_judgments, reader_names

__all__ = ["read_judgments", "reader_names"]
