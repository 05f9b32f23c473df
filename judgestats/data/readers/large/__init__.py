"""Judgments that do not fit in memory: one pass over Parquet to counts by item and condition."""
