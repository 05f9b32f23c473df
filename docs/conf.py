"""The documentation site: ``make site`` builds it into build/site, without asking any address."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from judgestats import __version__  # noqa: E402

project = "judgestats"
author = "The judgestats developers"
copyright = author  # noqa: A001 - Sphinx reads this name
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "mathml",
    "contents",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_ext", "_static", "data"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_mock_imports = ["inspect_ai"]  # an extra, which the lock leaves out
autodoc_typehints = "none"  # numpydoc's parameter sections carry the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = "judgestats"
html_theme_options = {"navigation_with_keys": True}
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
templates_path = ["_ext/templates"]
