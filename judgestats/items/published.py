"""Published item sets: address, licence, digest, and download."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import tempfile
import tomllib
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import IO

from judgestats.errors import InputError, StoreError
from judgestats.items.records import short_repr


@dataclass(frozen=True)
class PublishedFile:
    """One file: its name below the set's folder, its address, its SHA-256 where known."""

    name: str
    url: str
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class PublishedSet:
    """A set's files, the layout that reads them, its licence as the publisher states it.

    `page` is where a reader finds the files, and their licence, with a browser; `kilobytes` is what
    they take in all, where that is known.
    """

    layout: str
    license: str
    files: tuple[PublishedFile, ...]
    page: str = ""
    kilobytes: int | None = None

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
    return MappingProxyType(
        {
            name: PublishedSet(
                layout=entry.get("layout", ""),
                license=entry["license"],
                files=tuple(PublishedFile(*cells) for cells in entry["files"]),
                page=entry.get("page", ""),
                kilobytes=entry.get("kilobytes"),
            )
            for name, entry in sets.items()
        }
    )


PUBLISHED: Mapping[str, PublishedSet] = _declared("sets")
"""The sets that `judgestats.items.fetch` knows, by name."""

STUDY_DATA: Mapping[str, PublishedSet] = _declared("studies")
"""What the authors of re-examined studies published, for ``replicate -P data=``: no item sets."""

GIVEN: Mapping[str, str] = MappingProxyType(
    {
        "lima": "LIMA's 1,000 instructions (huggingface.co/datasets/GAIR/lima, CC BY-NC-SA 4.0 at "
        "most, behind a form) are given as items=FILE with the columns id and question",
        "tulu3": "the study drew 10,000 instructions of Tulu 3's mixture "
        "(huggingface.co/datasets/allenai/tulu-3-sft-mixture, ODC-BY and its parts' licences); "
        "give them as items=FILE with the columns id and question",
    }
)
"""Sets that a study used and that nobody can fetch by an address: what to give in their place."""


def fetch_path(name: str) -> Path:
    """Where ``judgestats items fetch NAME`` puts a set unless it is told otherwise.

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
    files = PUBLISHED[name].files
    return folder / files[0].name if len(files) == 1 else folder


_MAX_BYTES = 500_000_000
_SUMS = "SHA256SUMS"
"""What stands beside the files: their digests, as ``sha256sum --check`` reads them."""
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Fetched:
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
) -> Fetched:
    """Download a published set by name, and verify it.

    Parameters
    ----------
    name : str
        One of `judgestats.items.published.PUBLISHED` or ``STUDY_DATA``.
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
    Fetched

    Raises
    ------
    InputError
        If the name is unknown; if a file of that name is there and is not the one that is known; if
        a server cannot be reached or refuses (the message says which files to put where by hand);
        or if what came is not the file that is known (it is not kept).
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
    alone = len(published.files) == 1 and name in PUBLISHED
    path = folder / published.files[0].name if alone else folder
    return Fetched(
        path=path,
        sha256=MappingProxyType(digests),
        verified_by=MappingProxyType(verified),
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
            f"fetch: {file.url} cannot be downloaded ({short_repr(str(error), 120)}). Where there "
            f"is no network: download it elsewhere (from {published.page or file.url}), put it at "
            f"{target}, "
            + (
                f"likewise the others of the {len(published.files)} files of {name} (judgestats "
                f"items list {name}), "
                if several
                else ""
            )
            + f"and use it as items={published.layout}:{place}."
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
    """Write what stands at `url` to `stream`; its digest, and the one the server announced."""
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
