"""Models of one's own, run here: fine-tuning a judge, asking it, and coverage by attention.

Everything here needs an extra (``judgestats[train]``, ``judgestats[coverage]``) and imports it only
when it is used.
"""

from __future__ import annotations

from judgestats.local.judge import LocalJudge
from judgestats.local.train import Trained, TrainingSettings, train_judge

__all__ = ["LocalJudge", "Trained", "TrainingSettings", "train_judge"]
