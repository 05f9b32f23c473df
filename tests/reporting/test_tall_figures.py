"""A figure with more rows than a page has room for is made smaller, not cut."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from matplotlib.image import imread

from tests.reporting.pages import render

DOCUMENT = """---
title: Tall
---

```{python}
from judgestats.reporting import Captioned, plots, show

rows = tuple(
    plots.EffectRow(label=f"judge {i}: a condition with a long name - another such condition",
                    estimate=0.0, low=-0.1, high=0.1)
    for i in range(36)
)
figure = plots.Forest(rows=rows, margin=(-0.2, 0.2))
show("@fig-tall shows it.", Captioned(figure=figure, label="fig-tall", caption="Last line."))
```
"""


@pytest.mark.pdf
def test_a_figure_taller_than_a_page_fits_it(tmp_path: Path) -> None:
    if shutil.which("pdftoppm") is None:
        pytest.skip("pdftoppm is not installed (apt-get install poppler-utils)")
    document = tmp_path / "tall.qmd"
    document.write_text(DOCUMENT, encoding="utf-8")
    made = render(document, to=("pdf",), out_dir=tmp_path / "out", renderer="builtin")
    subprocess.run(
        ["pdftoppm", "-r", "40", "-gray", "-png", str(made["pdf"]), str(tmp_path / "p")], check=True
    )
    for path in sorted(tmp_path.glob("p*.png")):
        pixels = imread(path)
        ink = (pixels if pixels.ndim == 2 else pixels[..., 0]) < 0.8
        foot = ink[int(len(ink) * (297 - 21.5) / 297) : int(len(ink) * (297 - 17) / 297)]
        assert not foot.any(), f"{path.name}: something stands between the text and the page number"
