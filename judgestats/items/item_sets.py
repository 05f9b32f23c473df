"""Item sets by name, their summary, and published sets: address, licence, digest, download."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import random
import re
import tempfile
import tomllib
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

from judgestats.errors import InputError, StoreError
from judgestats.items.bank import load_bank
from judgestats.items.preference_sets import drop_ties
from judgestats.items.readers import LAYOUTS, read_items
from judgestats.items.records import Item, item_to_record, short_repr


@dataclass(frozen=True)
class PublishedFile:
    """One file: its name below the set's folder, its address, its SHA-256 where known."""

    name: str
    url: str
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class PublishedSet:
    """A set's files, the layout that reads them, its licence as the publisher states it.

    `page` is the address of the files and their licence for a browser. `kilobytes` is their total
    size, where it is known. `items` is the file of items, where others come with it. `use` is the
    command that reads a study's texts.
    """

    license: str
    files: tuple[PublishedFile, ...]
    layout: str = ""
    page: str = ""
    kilobytes: int | None = None
    items: str = ""
    use: str = ""

    def about(self) -> str:
        """Licence, and size as far as it is known.

        Examples
        --------
        >>> PUBLISHED["squad"].about()
        'licence CC-BY-SA-4.0, 4.9 MB'
        """
        size = f"{self.kilobytes / 1000:.1f} MB" if self.kilobytes else "size not known"
        return f"licence {self.license}, {size}"


def _declared(group: str) -> Mapping[str, PublishedSet]:
    """The sets of a group that ``published.toml`` declares."""
    sets = tomllib.loads((files("judgestats.items") / "published.toml").read_text("utf-8"))[group]
    return {
        name: PublishedSet(**{**entry, "files": tuple(PublishedFile(*c) for c in entry["files"])})
        for name, entry in sets.items()
    }


PUBLISHED: Mapping[str, PublishedSet] = _declared("sets")
"""The sets that `judgestats.items.fetch` knows, by name."""

STUDY_DATA: Mapping[str, PublishedSet] = _declared("studies")
"""What the authors of studies published: data for ``replicate -P data=``, and prompts; no items."""

GIVEN: Mapping[str, str] = {
    "lima": "LIMA's 1,000 instructions (huggingface.co/datasets/GAIR/lima, CC BY-NC-SA 4.0 at "
    "most, behind a form) are given as items=FILE with the columns id and question",
    "tulu3": "the study drew 10,000 instructions of Tulu 3's mixture "
    "(huggingface.co/datasets/allenai/tulu-3-sft-mixture, ODC-BY and its parts' licences); "
    "give them as items=FILE with the columns id and question",
    "pandalm": "PandaLM's test set is not an item set any more: give a table with the columns "
    "question, response_a, response_b, winner and annotator",
}
"""Names of sets without an address here, with what to give instead."""


def fetch_path(name: str) -> Path:
    """Default folder of a set that ``judgestats items fetch NAME`` downloads.

    Parameters
    ----------
    name : str
        One of `PUBLISHED`.

    Returns
    -------
    Path
        The file, or the folder of a set of several files.

    Examples
    --------
    >>> fetch_path("evalbias").as_posix(), fetch_path("bbh").as_posix()
    ('data/evalbias/biasbench.json', 'data/bbh')
    """
    folder = Path("data") / name
    published = PUBLISHED[name]
    alone = published.files[0].name if len(published.files) == 1 else ""
    return folder / (published.items or alone)


_MAX_BYTES = 500_000_000
_SUMS = "SHA256SUMS"
"""What accompanies the files: their digests, as ``sha256sum --check`` reads them."""
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class FetchResult:
    """What `fetch` did.

    Attributes
    ----------
    path : Path
        The file or folder, as `judgestats.items.read_items` takes it.
    sha256 : mapping of str to str
        Digest of each file.
    verified_by : mapping of str to str
        For each file ``"known digest"``, ``"server's digest"`` (which the server announced for
        it), ``"earlier download"`` (its digest is the one that was noted then) or ``"nothing"``.
    license : str
        As the publisher states it.
    """

    path: Path
    sha256: Mapping[str, str]
    verified_by: Mapping[str, str]
    license: str

    def __str__(self) -> str:
        unverified = [name for name, how in self.verified_by.items() if how == "nothing"]
        note = f" Not verified, no digest is known: {', '.join(unverified)}." if unverified else ""
        return f"{len(self.sha256)} file(s) in {self.path} (licence: {self.license}).{note}"


def fetch(
    name: str, dest: str | Path, *, overwrite: bool = False, timeout: float = 60.0
) -> FetchResult:
    """Download a published set by name, and verify it.

    Parameters
    ----------
    name : str
        One of `judgestats.items.item_sets.PUBLISHED` or ``STUDY_DATA``.
    dest : str or Path
        A folder, made if need be; the set's files are put there, and their digests into
        ``SHA256SUMS``. A file that is there already and has the known digest, or the one noted
        there, is not downloaded again.
    overwrite : bool
        Replace a file that is there and is another one; otherwise it is an error.
    timeout : float
        Seconds without an answer after which a download is given up.

    Returns
    -------
    FetchResult

    Raises
    ------
    InputError
        If the name is unknown, or a different file of that name exists. If a server cannot be
        reached or refuses (the message says which files to put where by hand). If the downloaded
        file is not the known one (it is not kept).
    StoreError
        If the folder cannot be written.
    """
    by_name = {**PUBLISHED, **STUDY_DATA}
    if name not in by_name:
        raise InputError(
            f"fetch: there is no set {short_repr(name)}. Choose one of {', '.join(by_name)}; any "
            "other file can be read by its path."
        )
    published = by_name[name]
    folder = Path(dest)
    digests: dict[str, str] = {}
    verified: dict[str, str] = {}
    noted = _noted(folder)
    for file in published.files:
        present = _already_there(file, folder / file.name, noted, overwrite=overwrite)
        digests[file.name], verified[file.name] = present or _fetch_file(
            name, published, file, folder / file.name, timeout
        )
        _note(folder, noted | digests)
    inside = fetch_path(name).relative_to(Path("data") / name) if name in PUBLISHED else ""
    path = folder / inside
    return FetchResult(
        path=path,
        sha256=digests,
        verified_by=verified,
        license=published.license,
    )


def _noted(folder: Path) -> dict[str, str]:
    """Digests by file from ``SHA256SUMS``; lines of another form are not ours and say nothing."""
    try:
        text = (folder / _SUMS).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    lines = (line.partition("  ") for line in text.splitlines())
    return {name: digest for digest, _, name in lines if _SHA256.fullmatch(digest) and name}


def _note(folder: Path, digests: Mapping[str, str]) -> None:
    text = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    try:
        (folder / _SUMS).write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"fetch: {str(folder)!r} cannot be written ({error}).") from error


def _already_there(
    file: PublishedFile, target: Path, noted: Mapping[str, str], *, overwrite: bool
) -> tuple[str, str] | None:
    """The digest of a file that need not be downloaded; None if it must be."""
    try:
        digest = _digest(target) if target.exists() else ""
    except OSError as error:
        raise StoreError(f"fetch: {str(target)!r} cannot be read ({error}).") from error
    if digest and digest == file.sha256:
        return digest, "known digest"
    if digest and not file.sha256 and digest == noted.get(file.name):
        return digest, "earlier download"
    if digest and not overwrite:
        raise InputError(
            f"fetch: {target} is there already and is not known to be {file.url} (SHA-256 "
            f"{digest[:12]}..., {f'expected {file.sha256[:12]}...' if file.sha256 else 'no digest'}"
            f"{'' if file.sha256 else ' is known'}). Read it by its path, move it away, or have it "
            "replaced (--overwrite)."
        )
    return None


def _fetch_file(
    name: str, published: PublishedSet, file: PublishedFile, target: Path, timeout: float
) -> tuple[str, str]:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".fetch-")
    except OSError as error:
        raise StoreError(f"fetch: {str(target.parent)!r} cannot be written ({error}).") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            digest, announced = _download(file.url, stream, timeout)
        expected = file.sha256 or announced
        if expected and digest != expected:
            raise InputError(
                f"fetch: {file.url} is not the file that is known (SHA-256 {digest[:12]}..., "
                f"expected {expected[:12]}...); it was not kept. It was damaged on the way, or its "
                "publisher has changed it: download it by hand, look at it, and read it by path."
            )
        Path(temporary).replace(target)
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        several = len(published.files) > 1
        place = target.parents[len(Path(file.name).parts) - 1] if several else target
        raise InputError(
            f"fetch: {file.url} cannot be downloaded ({short_repr(str(error), 120)}). Without a "
            f"network: download it elsewhere (from {published.page or file.url}), put it at "
            f"{target}, "
            + (
                f"likewise the others of the {len(published.files)} files of {name} (judgestats "
                f"items list {name}), "
                if several
                else ""
            )
            + "and use it as "
            + (
                f"items={published.layout}:{place}."
                if published.layout
                else f"study_files={place}."
            )
        ) from error
    finally:
        Path(temporary).unlink(missing_ok=True)
    return digest, "known digest" if file.sha256 else "server's digest" if announced else "nothing"


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class _RememberDigest(urllib.request.HTTPRedirectHandler):
    """Follows redirects and keeps the digest that a server announces on the way.

    Hugging Face sends a large file's SHA-256 as ``X-Linked-ETag`` with the redirect.
    """

    announced = ""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        self.announced = _announced(headers) or self.announced
        old, new = (urllib.parse.urlsplit(url).scheme for url in (req.full_url, newurl))
        if new != "https" and (old, new) != ("http", "http"):
            raise urllib.error.URLError(f"it leads from {old} to {new}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _announced(headers: http.client.HTTPMessage) -> str:
    value = (headers.get("X-Linked-ETag") or "").strip('"')
    return value if _SHA256.fullmatch(value) else ""


def _download(url: str, stream: IO[bytes], timeout: float) -> tuple[str, str]:
    """Download `url` to `stream`; return its digest, and the one the server announced."""
    remember = _RememberDigest()
    opener = urllib.request.build_opener(remember)
    sha = hashlib.sha256()
    size = 0
    with opener.open(url, timeout=timeout) as reply:
        announced = _announced(reply.headers) or remember.announced
        promised = reply.headers.get("Content-Length") or ""
        if promised.isdecimal() and int(promised) > _MAX_BYTES:
            raise OSError(f"it says that it has {int(promised):,} bytes, more than {_MAX_BYTES:,}")
        packed = reply.headers.get("Content-Encoding") or "identity"
        if packed != "identity":
            raise OSError(f"it came packed ({short_repr(packed)}), which was not asked for")
        while block := reply.read(1 << 20):
            size += len(block)
            if size > _MAX_BYTES:
                raise OSError(f"more than {_MAX_BYTES:,} bytes")
            sha.update(block)
            stream.write(block)
        if promised.isdecimal() and int(promised) != size:
            raise OSError(f"it ended after {size:,} of {int(promised):,} bytes")
    return sha.hexdigest(), announced


BANK = "bank"


def sets() -> Mapping[str, str]:
    """What `load_items` understands: names, and the source of each.

    Returns
    -------
    mapping of str to str

    Examples
    --------
    >>> sets()["bank"]
    'the bundled bank: questions with answers of designed quality'
    """
    return {
        BANK: "the bundled bank: questions with answers of designed quality",
        "mt_bench": "a folder in FastChat's layout: question.jsonl and model_answer/*.jsonl",
        **{name: layout.about for name, layout in LAYOUTS.items()},
    }


def parse_options(text: str | None) -> dict[str, Any]:
    """Options of `judgestats.items.readers.read_items` from their command-line form.

    Parameters
    ----------
    text : str or None
        ``"turn=1,ties=drop"``; of ``models`` several are joined by ``+``.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If an option is unknown, occurs twice, or has no such value.

    Examples
    --------
    >>> parse_options("turn=1, ties=drop, models=gpt-4+claude-v1")
    {'turn': 1, 'ties': 'drop', 'models': ('gpt-4', 'claude-v1')}
    """
    options: dict[str, Any] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value or name not in _OPTIONS:
            raise InputError(
                f"item_options: {short_repr(part.strip())} is not option=value with an option "
                f"among {', '.join(_OPTIONS)}. Write for instance turn=1,ties=drop."
            )
        if name in options:
            raise InputError(f"item_options: {name} occurs twice. Give it once.")
        options[name] = _OPTIONS[name](name, value)
    return options


def _whole(name: str, value: str) -> int:
    if not value.isdecimal() or len(value) > 12:
        raise InputError(f"item_options: {name} must be a whole number, not {short_repr(value)}.")
    return int(value)


def _truth(name: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise InputError(f"item_options: {name} must be true or false, not {short_repr(value)}.")
    return value.lower() == "true"


_OPTIONS: Mapping[str, Callable[[str, str], Any]] = {
    "turn": _whole,
    "cut": _whole,
    "ties": lambda _, value: value,
    "models": lambda _, value: tuple(m.strip() for m in value.split("+") if m.strip()),
    "empty_ok": _truth,
    "max_chars": _whole,
}


def load_items(name_or_path: str | Path, **options: Any) -> tuple[Item, ...]:
    """The items of the bundled bank, of a file or folder, or of a file in a named layout.

    Parameters
    ----------
    name_or_path : str or Path
        ``"bank"``, a path, or ``"layout:path"`` (``"rewardbench:my.parquet"``), which is
        ``read_items(path, layout=...)``. Or the name of a published set in the folder where
        ``judgestats items fetch NAME`` puts it.
    **options
        Passed to `judgestats.items.readers.read_items`.

    Returns
    -------
    tuple of Item

    Raises
    ------
    InputError
        As `read_items`; also where the bank is given an option, or a layout's name has no path.

    Examples
    --------
    >>> load_items("bank") is load_bank()
    True
    """
    text = str(name_or_path)
    if text == BANK:
        given = {
            k: v
            for k, v in options.items()
            if v not in (None, False) and k not in {"ties", "questions"}
        }
        if given:
            raise InputError(
                f"load_items: the bundled bank takes no options, got {short_repr(sorted(given))}. "
                "Leave them out, or give a file."
            )
        bank = load_bank()
        return drop_ties(bank) if options.get("ties") == "drop" else bank
    name, colon, rest = text.partition(":")
    if colon and name in sets() and name != BANK and rest and not _exists(text):
        return read_items(rest, **{**options, "layout": name})
    check_there([text])
    if text in PUBLISHED and not _exists(text):
        return read_items(fetch_path(text), **{**options, "layout": PUBLISHED[text].layout})
    if text in sets() and not _exists(text):
        raise InputError(
            f"load_items: {text!r} is the name of a layout ({sets()[text]}); its files do not come "
            f"with judgestats. Give the path, or {text}:PATH."
        )
    return read_items(name_or_path, **options)


def layout_of(source: str) -> str:
    """The layout that a source names, with or without a path; empty where it is found out.

    Examples
    --------
    >>> layout_of("mt_bench"), layout_of("bbh:my/folder"), layout_of("my.csv")
    ('mt_bench', 'bbh', '')
    """
    name, colon, _ = source.partition(":")
    if colon:
        return name if name in sets() and not _exists(source) else ""
    return PUBLISHED[name].layout if name in PUBLISHED and not _exists(name) else ""


def check_there(names: Iterable[str]) -> None:
    """Refuse names of published sets that have not been fetched, all of them in one sentence.

    Parameters
    ----------
    names : iterable of str
        Names for `load_items`; unknown names are skipped.

    Raises
    ------
    InputError
        With the commands that bring them, their licences and sizes, and what to do without a
        network.
    """
    names = [str(name) for name in names]
    for name in names:
        if name in GIVEN and not _exists(name):
            raise InputError(f"items: {GIVEN[name]}.")
    absent = [n for n in names if n in PUBLISHED and not _exists(n)]
    absent = [n for n in absent if not _exists(str(fetch_path(n)))]
    if not absent:
        return
    text = "; ".join(f"`judgestats items fetch {n}` ({PUBLISHED[n].about()})" for n in absent)
    first = absent[0]
    which = (
        f"{first!r} is a published set, and it is not at {fetch_path(first).as_posix()}"
        if len(absent) == 1
        else f"the published sets {', '.join(absent)} are not below data/"
    )
    raise InputError(
        f"items: {which}. Download with {text}. Without a network, get the files elsewhere "
        f"(`judgestats items list {first}` names them) and give them as {first}:PATH."
    )


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False  # a name that the system refuses


def item_set_sha(items: Iterable[Item]) -> str:
    """A digest of an item set's content.

    Parameters
    ----------
    items : iterable of Item

    Returns
    -------
    str
        The first 12 hex digits of the SHA-256 of the items' canonical JSON (own layout, keys
        sorted), in the order of their ids: reordering the set does not change it; any text,
        reference, quality or label does.

    Examples
    --------
    >>> from judgestats.items.bank import load_bank
    >>> item_set_sha(load_bank()) == item_set_sha(reversed(load_bank()))
    True
    """
    digest = hashlib.sha256()
    for item in sorted(items, key=lambda item: item.id):
        record = json.dumps(item_to_record(item), sort_keys=True, separators=(",", ":"))
        digest.update(record.encode("utf-8") + b"\n")
    return digest.hexdigest()[:12]


@dataclass(frozen=True, kw_only=True)
class ItemSetSummary:
    """Counts of an item set; `str()` is one readable line.

    Attributes
    ----------
    items, clusters, responses, two_turn, with_reference : int
        Numbers of items, of distinct clusters, of responses in all, of items with more than one
        turn, and of items with a reference.
    labels, labelled_pairs : int
        Human labels in all; distinct (item, pair, turn) that have at least one.
    annotators, authors : tuple of str
        Distinct names, sorted; empty names left out.
    categories : mapping of str to int
        Items a category, in order of first occurrence.
    sha : str
        The content digest (`item_set_sha`).
    """

    items: int
    clusters: int
    responses: int
    two_turn: int
    with_reference: int
    labels: int
    labelled_pairs: int
    annotators: tuple[str, ...]
    authors: tuple[str, ...]
    categories: Mapping[str, int]
    sha: str

    def __str__(self) -> str:
        parts = [
            f"{_count_noun(self.items, 'item')} in {_count_noun(self.clusters, 'cluster')}",
            _count_noun(self.responses, "response"),
        ]
        named = [category for category in self.categories if category]
        if named:
            parts.append(f"{len(named)} categories")
        if self.two_turn:
            parts.append(f"{self.two_turn} with two turns")
        if self.with_reference:
            parts.append(f"{self.with_reference} with a reference")
        if self.labels:
            parts.append(
                f"{_count_noun(self.labels, 'label')} on "
                f"{_count_noun(self.labelled_pairs, 'pair')} by "
                f"{_count_noun(len(self.annotators), 'annotator')}"
            )
        return ", ".join(parts) + f" (sha {self.sha})"


def describe_items(items: Sequence[Item]) -> ItemSetSummary:
    """Counts of an item set.

    Parameters
    ----------
    items : sequence of Item

    Returns
    -------
    ItemSetSummary

    Examples
    --------
    >>> from judgestats.items.records import Response
    >>> item = Item(id="q1", cluster="q1", turns=("Why?",), responses=(Response(turns=("So.",)),))
    >>> print(describe_items([item]))
    1 item in 1 cluster, 1 response (sha ...)
    """
    labels = [(item.id, label) for item in items for label in item.labels]
    return ItemSetSummary(
        items=len(items),
        clusters=len({item.cluster for item in items}),
        responses=sum(len(item.responses) for item in items),
        two_turn=sum(len(item.turns) > 1 for item in items),
        with_reference=sum(bool(item.reference) for item in items),
        labels=len(labels),
        labelled_pairs=len({(i, frozenset((x.a, x.b)), x.turn) for i, x in labels}),
        annotators=tuple(sorted({x.annotator for _, x in labels})),
        authors=tuple(sorted({r.author for item in items for r in item.responses} - {""})),
        categories=dict(Counter(item.category for item in items)),
        sha=item_set_sha(items),
    )


def select_items(
    items: Iterable[Item], *, limit: int | None = None, seed: int | None = 0
) -> tuple[Item, ...]:
    """A part of an item set, drawn at random but repeatably, spread over its categories.

    Parameters
    ----------
    items : iterable of Item
    limit : int, optional
        At most this many items, taken from the categories in turn, so that a small part still
        covers them all.
    seed : int or None
        Decides which items; None takes the first ones of the file.

    Returns
    -------
    tuple of Item
        In the order of `items`.

    Raises
    ------
    InputError
        If `limit` is below 1, or there is no item.

    Examples
    --------
    >>> from judgestats.items.bank import load_bank
    >>> [item.category for item in select_items(load_bank(), limit=3)]
    ['writing', 'reasoning', 'maths']
    """
    pool = list(items)
    if limit is not None and (isinstance(limit, bool) or limit < 1):
        raise InputError(f"select_items: limit must be at least 1, not {short_repr(limit)}.")
    if not pool:
        raise InputError("select_items: there is no item to choose from.")
    if limit is None:
        return tuple(pool)
    by_category: dict[str, list[int]] = {}
    for index, item in enumerate(pool):
        by_category.setdefault(item.category, []).append(index)
    if seed is not None:
        rng = random.Random(seed)
        for indices in by_category.values():
            rng.shuffle(indices)
    chosen = [
        indices[depth]
        for depth in range(max(map(len, by_category.values())))
        for indices in by_category.values()
        if depth < len(indices)
    ]
    return tuple(pool[index] for index in sorted(chosen[:limit]))


def _count_noun(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
