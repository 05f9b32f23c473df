"""Decisions from statistics: cut-off, automation, panel, change, and labels."""
