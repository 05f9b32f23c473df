"""Simulated judges: an OpenAI-compatible server whose judges' truth is known."""
