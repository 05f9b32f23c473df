"""Addresses given instead of a path: object stores are copied here, others are refused."""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from judgestats.errors import InputError
from judgestats.files.text import shorten_text

_REMOTE = re.compile(r"([a-z][a-z0-9+.-]{1,15}):/{1,3}(?=[\w.%-])")
_DOWNLOADS: Mapping[str, str] = {
    "https": "curl -LO {whole}",
    "http": "curl -LO {whole}",
    "ftp": "curl -O {whole}",
    "s3": "aws s3 cp {whole} .",
    "gs": "gcloud storage cp {whole} .",
    "hf": "hf download {repo}",
    "abfs": "azcopy copy {whole} .",
    "abfss": "azcopy copy {whole} .",
}
"""How a file of an address is brought here by hand."""
_OWN = {"experiment", "experiments", "runs"}
"""Schemes of MLflow, which name no file."""
_STORES = {"s3": "S3", "gs": "Google Cloud Storage", "abfs": "Azure", "abfss": "Azure"}
_KEYS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "abfs": "AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY",
    "abfss": "AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY",
}
_BLOCK = 1 << 20
_MOST = 2 << 30
_copies: dict[str, Path] = {}


def _parts(path: Path | str) -> tuple[str, str] | None:
    """Scheme and rest of an address; None for a path of this machine."""
    found = _REMOTE.match(str(path))
    if found is None or found[1] in _OWN or os.path.lexists(path):
        return None
    return found[1], str(path)[found.end() :]


def refuse_remote(path: Path | str) -> None:
    """Refuse an address with the command that downloads it.

    Parameters
    ----------
    path : Path or str

    Raises
    ------
    InputError

    Examples
    --------
    >>> refuse_remote("s3://b/a.csv")
    Traceback (most recent call last):
    judgestats.errors.InputError: 's3://b/a.csv' is a remote path. Download it first: aws s3 cp ...
    """
    if (parts := _parts(path)) is None:
        return
    command = _download_command(*parts)
    way = f"Download it first: {command}" if command else f"There is no reader for {parts[0]}:."
    raise InputError(f"{'://'.join(parts)!r} is a remote path. {way}")


def _download_command(scheme: str, rest: str) -> str:
    kind, *names = rest.split("/")
    words = ["/".join(names[:2]), *filter(None, ["/".join(names[2:])])]
    words += ["--repo-type", "dataset"] if kind == "datasets" else []
    whole = shlex.quote(f"{scheme}://{rest}")
    return _DOWNLOADS.get(scheme, "").format(whole=whole, repo=shlex.join(words))


def local_file(path: Path | str) -> Path:
    """Give the path of a file on this machine; an object of S3, GCS, or Azure is copied here.

    The copy is deleted when the process ends. A second call with the same
    address gives the same copy.

    Parameters
    ----------
    path : Path or str
        A path, or ``s3://bucket/key``, ``gs://bucket/key``, ``abfs://container@account/key``.
        Keys come from the environment, as each provider's own tools take them.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        Another scheme, a key inside the address, no such object, or more than 2 GiB.

    Examples
    --------
    >>> local_file("a.csv").name
    'a.csv'
    >>> local_file("https://example.org/a.csv")
    Traceback (most recent call last):
    judgestats.errors.InputError: 'https://example.org/a.csv' is a remote path. Download it ...
    """
    if (parts := _parts(path)) is None:
        return Path(path)
    scheme, rest = parts
    if scheme not in _STORES:
        refuse_remote(path)
    address = f"{scheme}://{rest}"
    if address not in _copies:
        folder = Path(tempfile.mkdtemp(prefix="judgestats-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _copies[address] = _copied(scheme, address, folder)
    return _copies[address]


def _copied(scheme: str, address: str, folder: Path) -> Path:
    """The object in a folder, under its own name."""
    from pyarrow import fs

    bare = address.partition("?")[0]
    user, at, _ = bare.partition("://")[2].partition("/")[0].rpartition("@")
    if at and ":" in user:
        raise InputError(
            f"{scheme}: the address holds a key. Leave it out, and set {_KEYS[scheme]}."
        )
    name = Path(bare).name
    target = folder / name
    try:
        store, key = fs.FileSystem.from_uri(address)
        with store.open_input_stream(key) as source, target.open("wb") as out:
            size = 0
            while block := source.read(_BLOCK):
                size += len(block)
                if size > _MOST:
                    raise InputError(
                        f"{bare} holds more than 2 GiB. Download it, and use --stream on Parquet."
                    )
                out.write(block)
    except (OSError, ValueError, NotImplementedError) as error:
        why = shorten_text(str(error).strip().partition("\n")[0], 200)
        raise InputError(
            f"{bare} cannot be read from {_STORES[scheme]} ({why}). Keys come from "
            f"{_KEYS[scheme]}. Or download it first: "
            f"{_download_command(scheme, bare.partition('://')[2])}"
        ) from error
    return target
