"""What a paper says of a run: a paragraph of methods, and a checklist of what is reported."""

from __future__ import annotations

from judgestats.reporting.writing_up.document import (
    Entry,
    checklist,
    methods_document,
    write_methods,
)
from judgestats.reporting.writing_up.paragraph import methods_text

__all__ = ["Entry", "checklist", "methods_document", "methods_text", "write_methods"]
