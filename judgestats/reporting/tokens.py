"""Design tokens: the colours of pages, figures, and PDF, in one place.

Blue, vermillion, and the series are those of Okabe and Ito (2008); `bad` is vermillion darkened for
text. Yellow is left out of the series, since it is lost on white paper.
"""

LIGHT = {
    "paper": "#fdfdfc", "ink": "#1b1c1e", "quiet": "#5b6068", "line": "#d9dce0", "good": "#0072b2",
    "bad": "#b84a00", "fails": "#b84a0026",
}  # fmt: skip
"""Of figures and PDF too; `fails` is `bad` at 15%, the failing side of a threshold."""
DARK = {
    "paper": "#16181b", "ink": "#e6e7e9", "quiet": "#a3a8b0", "line": "#363a41", "good": "#6bb8ee",
    "bad": "#ff9a5c", "fails": "#ff9a5c2e",
}  # fmt: skip
SERIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def css_tokens() -> str:
    """Return the tokens as variables of a style sheet, for both colour schemes."""
    light, dark = (
        ";".join(f"--{name}:{colour}" for name, colour in tokens.items())
        for tokens in (LIGHT, DARK)
    )
    return f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


def typst_tokens() -> str:
    """Return the tokens as variables of a typst document."""
    return "".join(f'#let js-{name} = rgb("{colour}")\n' for name, colour in LIGHT.items())
