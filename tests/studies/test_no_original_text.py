"""No phrase of the studies' own prompts is in the repository: sixteen are known by digest."""

import hashlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LENGTH = 8
"""Words of a phrase."""
DIGESTS = {
    "llmasjudge": (
        "013ae6aced332322df1a933950aa1d84f6151ca6968ea58265c7c9b6a44fb9f2",
        "4f1e2917f398552de9351fd313af61c1198d19be98b1c5875d157697194c62f3",
        "e931c19ab7cc04c6af725c678dff45e13ddda04a9c6ba23b4125769861185893",
        "04300cc56b4ec18746da88d925efe6d719e8d17fe7b90e5beb8027a6135c59c1",
    ),
    "llm_reliability": (
        "38f22b38a854d84a437af11982e3471ac56b627f92057e9a0642bd933131447e",
        "fc8c4296d68fd224b4ae2d7b780bf69175f0e274443bdf7082ca74a2e1df35ea",
        "4cff2db6892a72255dd615bf23cf89cb247242491de92e499b44a7fb76cbbd0a",
        "841d17723f5bf915363593dca75ff485684c8740f71d68c9a5bc4c4bc6143b79",
    ),
    "gradelab": (
        "4df2d96f292f8974b61b0222b3261ec6382f5930fce2d5a1e31a26f622ba77bc",
        "d0704dd42824eb849b1cee568feb4673b05981f0b04ba78ae859c2a50b3ecef0",
        "a261954d8c142caaeed462af8de92f299f5e1c66ad37928d58338d4c17c4dccd",
        "0dcd3d1a2cb380e19e8d27611e24a2934960d22cd7eadfb4499e25938628d879",
    ),
    "cce": (
        "7d92b9cb920da5e6950020f0aa5c97e5c788a25d2caccb04a9e27a187b75ffb8",
        "319650ddd94fb3e3362c284c3792964c8481f23fc4c3e4e162e9eaad104030d0",
        "f2d8786b792d30c87d641c7e6d454488c000d82220cfb4fc4c15f4c43e7048ad",
        "be8cb6f12ce53337da97f39e771da9c9c71674f0dfb6aa9522803cbed1d266cf",
    ),
}
"""SHA-256 of four phrases per study: eight words in lower case, a blank between two."""


def digests_of(text: str) -> Iterator[str]:
    """The digest of every phrase of a text."""
    words = re.findall(r"[a-z0-9']+", text.lower())
    for start in range(len(words) - LENGTH + 1):
        phrase = " ".join(words[start : start + LENGTH])
        yield hashlib.sha256(phrase.encode()).hexdigest()


def tracked_texts() -> Iterator[tuple[str, str]]:
    """The text files under version control."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
        ).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no version control here")
    for name in filter(None, listed):
        raw = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b""
        if b"\0" not in raw[:8000]:
            yield name, raw.decode("utf-8", errors="replace")


def test_a_phrase_is_found_whatever_its_case_and_line_breaks() -> None:
    phrase = "one two three four five six seven eight"
    [digest] = digests_of(phrase)
    assert digest in set(digests_of("zero, One two\n  three four -- five six seven; EIGHT nine"))


def test_no_phrase_of_the_originals_is_in_the_repository() -> None:
    known = {digest: study for study, own in DIGESTS.items() for digest in own}
    assert len(known) == 16
    found = [
        f"{name}: a phrase of {known[digest]}"
        for name, text in tracked_texts()
        for digest in digests_of(text)
        if digest in known
    ]
    assert found == []
