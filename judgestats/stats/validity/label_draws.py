"""Ways in which labelled items are drawn."""

from __future__ import annotations

from typing import Literal, get_args

LabelsDrawn = Literal["random", "stratified", "by-verdict", "convenience"]
LABELS_DRAWN: tuple[str, ...] = get_args(LabelsDrawn)
