"""Colours stay apart for colour-blind readers, and texts stand out in both schemes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from judgestats.reporting import tokens

SEEN = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
"""How linear RGB is seen, of full severity (Machado et al. 2009)."""
TO_XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
          [0.0193339, 0.1191920, 0.9503041]]  # fmt: skip


def linear(colour: str) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB of linear RGB under D65."""
    t = TO_XYZ @ np.clip(rgb, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    x, y, z = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def difference(one: np.ndarray, two: np.ndarray) -> float:
    """CIEDE2000 of two colours in CIELAB (Sharma et al. 2005)."""
    c7 = np.mean([np.hypot(*one[1:]), np.hypot(*two[1:])]) ** 7
    stretch = 1.5 - 0.5 * np.sqrt(c7 / (c7 + 25**7))
    (l1, a1, b1), (l2, a2, b2) = one * [1, stretch, 1], two * [1, stretch, 1]
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    light, chroma, hue = (l1 + l2) / 2, (c1 + c2) / 2, h1 + turn / 2 if c1 * c2 else h1 + h2
    cosine = [np.cos(np.radians(k * hue - d)) for k, d in ((1, 30), (2, 0), (3, -6), (4, 63))]
    t = 1 + np.dot([-0.17, 0.24, 0.32, -0.2], cosine)
    sl = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    around = np.exp(-((((hue % 360) - 275) / 25) ** 2))
    rt = -2 * np.sqrt(chroma**7 / (chroma**7 + 25**7)) * np.sin(np.radians(60 * around))
    parts = [(l2 - l1) / sl, (c2 - c1) / sc, dh / sh]
    return float(np.sqrt(np.dot(parts, parts) + rt * parts[1] * parts[2]))


def test_differences_are_those_of_the_published_pairs() -> None:
    """Sharma et al. (2005), table 1: pairs 1, 7, 14, 19, and 25."""
    pairs = (
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, -0.001, 2.49), (50, 0.0011, -2.49), 4.7461),
        ((50, 2.5, 0), (56, -27, -3), 31.9030),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    )  # fmt: skip
    for one, two, expected in pairs:
        assert difference(np.array(one), np.array(two)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("seen", SEEN)
def test_series_and_outcomes_differ_for_colour_blind_readers(seen: str) -> None:
    series = [lab(SEEN[seen] @ linear(c)) for c in tokens.SERIES]
    assert min(difference(a, b) for a, b in combinations(series, 2)) >= 10
    for theme in (tokens.LIGHT, tokens.DARK):
        good, bad = (lab(SEEN[seen] @ linear(theme[name])) for name in ("good", "bad"))
        assert difference(good, bad) >= 40
