"""How a document's cell shows things: as Markdown which Quarto and the built-in renderer both read.

A cell that ends in ``show(table, figure)`` displays them with captions and labels for references.
Plain strings given to `show` are Markdown written by the document's author; text from elsewhere
goes through `judgestats.reporting.document` first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgestats.errors import InputError
from judgestats.reporting.document import current_sink
from judgestats.reporting.plots.base import Figure
from judgestats.reporting.tables import Table
from judgestats.sinks import clean, escape_markdown

_LABEL = re.compile(r"^fig-[a-z0-9-]+$")


@dataclass(frozen=True)
class Markdown:
    """Markdown that a cell displays."""

    text: str

    def _repr_markdown_(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True)
class Captioned:
    """A figure with its label and caption for one document."""

    figure: Figure
    label: str
    caption: str

    def __post_init__(self) -> None:
        if not _LABEL.match(self.label):
            raise InputError(
                f"Captioned: label must be 'fig-' and small letters, digits or hyphens, but is "
                f"{self.label!r}. Write for instance fig-spread."
            )


Showable = Table | Figure | Captioned | Markdown | str | None


def show(*things: Showable | Sequence[Showable], about: str = "") -> Markdown:
    """Everything given, in order, as one piece of Markdown.

    Parameters
    ----------
    things : Table, Figure, Captioned, Markdown, str, None, or sequences of these
        Figures are written as SVG into the folder ``figures`` of the document's `Sink`.
    about : str
        Markdown: what the tables and figures show. A sentence that refers to each of them goes
        before them then; none where nothing of them has a label.

    Returns
    -------
    Markdown

    Examples
    --------
    >>> print(show("One.", None, ["Two."]))
    One.
    <BLANKLINE>
    Two.
    """
    parts: list[str] = [pointer(*things, about=about).text] if about else []
    for thing in things:
        if isinstance(thing, (list, tuple)):
            parts.append(str(show(*thing)))
        elif isinstance(thing, (Table, Figure, Captioned, Markdown, str)):
            parts.append(_one(thing))
    return Markdown("\n\n".join(part for part in parts if part.strip()))


def pointer(*things: Showable | Sequence[Showable], about: str) -> Markdown:
    """A sentence that refers to every table and figure given, or nothing where none has a label.

    Examples
    --------
    >>> from judgestats.reporting.tables import Column, Table
    >>> t = Table(columns=(Column(key="a"),), rows=(), label="tbl-one")
    >>> pointer(t, "text", [t, None], about="the scores by condition").text
    '@tbl-one shows the scores by condition.'
    """
    labels = list(dict.fromkeys(_labels(things)))
    if not labels:
        return Markdown("")
    *most, last = [f"@{label}" for label in labels]
    named = f"{', '.join(most)} and {last}" if most else last
    return Markdown(f"{named} {'show' if most else 'shows'} {about}.")


def with_next(text: str) -> str:
    """Markdown that does not stand alone at the foot of a printed page."""
    before, after = "```{=typst}\n#block(sticky: true)[\n```", "```{=typst}\n]\n```"
    return f"{before}\n\n{text}\n\n{after}"


def _labels(things: Sequence[Showable | Sequence[Showable]]) -> Iterator[str]:
    for thing in things:
        if isinstance(thing, (list, tuple)):
            yield from _labels(thing)
        elif isinstance(thing, (Table, Captioned)) and thing.label:
            yield thing.label


def section(
    heading: str, *things: Showable | Sequence[Showable], intro: str = "", about: str = ""
) -> Markdown:
    """A heading, an introduction and what follows, or nothing where nothing follows.

    Parameters
    ----------
    heading : str
        Markdown, with its marks and label: ``## Checks {#sec-checks}``.
    things
        As for `show`.
    intro : str
        Markdown between the heading and the things.
    about : str
        What the tables and figures show, as for `show`.

    Returns
    -------
    Markdown

    Examples
    --------
    >>> section("# Empty", None, []).text
    ''
    >>> print(section("# Full", "One.", intro="Two."))
    # Full
    <BLANKLINE>
    Two.
    <BLANKLINE>
    One.
    """
    body = show(*things, about=about)
    return show(heading, intro, body) if body.text.strip() else Markdown("")


def _one(thing: Table | Figure | Captioned | Markdown | str) -> str:
    if isinstance(thing, Table):
        return thing.to_quarto()
    if isinstance(thing, Captioned):
        picture = _picture(thing.figure, thing.label)
        caption = escape_markdown(thing.caption)
        return f":::: {{#{thing.label}}}\n\n{picture}\n\n{caption}\n\n::::"
    if isinstance(thing, Figure):
        drawn = current_sink().path("figures/1.svg").parent.glob("*.svg")
        return _picture(thing, f"figure-{len(list(drawn)) + 1}")
    return str(thing)


def _picture(figure: Figure, name: str) -> str:
    sink = current_sink()
    kinds = [kind for kind in ("svg", "png") if kind in sink.pictures]
    paths = {sink.path(f"figures/{name}.{kind}"): 200 for kind in kinds}
    if "summary" in sink.pictures and name == "fig-answer":
        paths[sink.path("figures/summary.png")] = 110
    figure.save_all(list(paths), dpi=list(paths.values()))
    words = " ".join(clean(figure.alt).split())
    words = words.replace("\\", "").replace('"', "'").replace("{", "(").replace("}", ")")
    small = getattr(figure, "narrow", None)
    narrow = ""
    if isinstance(small, Figure):
        small.save(sink.path(f"figures/{name}-narrow.svg"))
        narrow = f' narrow="figures/{name}-narrow.svg"'
    return f'![](figures/{name}.svg){{fig-alt="{words}"{narrow}}}'
