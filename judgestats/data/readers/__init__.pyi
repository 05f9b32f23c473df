"""Public names of `judgestats.data.readers`."""

from judgestats.data.readers.registry import read_judgments as read_judgments
from judgestats.data.readers.registry import reader_names as reader_names
