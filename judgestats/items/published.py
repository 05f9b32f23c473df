"""Published item sets: address, licence, digest, and download."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

from judgestats.errors import InputError, StoreError
from judgestats.items.records import short_repr


@dataclass(frozen=True, kw_only=True)
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


_STUDY_TERMS = "none stated (for your own use)"
_HF = "https://huggingface.co/datasets"
_GITHUB = "https://raw.githubusercontent.com"
_FASTCHAT = f"{_GITHUB}/lm-sys/FastChat/main/fastchat/llm_judge/data/mt_bench"
_RELIABILITY = f"{_GITHUB}/kaylaschroeder/llm_reliability/6d9712aa235264def368318011a48ff9bb3e9453"
_RELIABILITY_PAGE = "https://github.com/kaylaschroeder/llm_reliability"
_PANDALM = f"{_GITHUB}/WeOpenML/PandaLM/3871806e72b4832f815ecafd24d3503c73403f48/data"
_MT_BENCH_SPACE = "https://huggingface.co/spaces/lmsys/mt-bench/resolve/main/data/mt_bench"

_MT_BENCH_MODELS = {
    "alpaca-13b": "80f4a8bf4665839d33fa0ea7f4b58824abf88d5a0edc9e7cc68a362fca88ef98",
    "claude-v1": "884c109de34721859bf7ffa0f7e525dfbc9fb0d99c1ee7c5488bfb2eb8f8c62c",
    "gpt-3.5-turbo": "c3c097c21f91e4b44a554d82e5d47516daf7e8240e13b2eca79d211afc1fdfd6",
    "gpt-4": "f65cdce00aa8567e9add118cabd34c2866291ed8f5c1d568f8da9a81d231d3e7",
    "llama-13b": "b96b9f1e0a7e4e669fecfecda1c33908fdc4c095e38346e84352ea254c0b2cbc",
    "vicuna-13b-v1.3": "0a9bb7f7505d096e32b8a81f89b322cc09bb76d896484150844ce0787cc4caf5",
}

_BBH_TASKS: Mapping[str, str | None] = {
    "boolean_expressions": "ea6c754ec005e2d3f2d085d349a740f593b5764f32ea4638ffed4cfc0061b12a",
    "causal_judgement": None,
    "date_understanding": "0148d4ac5fca05b2f82373e5fef7208e15363b9c6079493034d77b3dab496bf5",
    "disambiguation_qa": None,
    "dyck_languages": None,
    "formal_fallacies": None,
    "geometric_shapes": None,
    "hyperbaton": None,
    "logical_deduction_five_objects": (
        "d2df31394b903b7f0e085d42a69572a092987856eac076799017d70ef266fa8f"
    ),
    "logical_deduction_seven_objects": None,
    "logical_deduction_three_objects": None,
    "movie_recommendation": None,
    "multistep_arithmetic_two": None,
    "navigate": None,
    "object_counting": None,
    "penguins_in_a_table": None,
    "reasoning_about_colored_objects": None,
    "ruin_names": None,
    "salient_translation_error_detection": None,
    "snarks": None,
    "sports_understanding": "63ca262858f6176864515cd8cf53cdaa40839ebecc155b726d77930855d167bf",
    "temporal_sequences": None,
    "tracking_shuffled_objects_five_objects": None,
    "tracking_shuffled_objects_seven_objects": None,
    "tracking_shuffled_objects_three_objects": None,
    "web_of_lies": None,
    "word_sorting": "2a6132d2c99f00d0d2eb1113ac6b4a918bd969d863c48749210d969713db8d43",
}


def _one(
    layout: str,
    license_: str,
    page: str,
    name: str,
    url: str,
    sha256: str | None = None,
    *,
    kilobytes: int | None = None,
) -> PublishedSet:
    file = PublishedFile(name=name, url=url, sha256=sha256)
    return PublishedSet(
        layout=layout, license=license_, files=(file,), page=page, kilobytes=kilobytes
    )


PUBLISHED: Mapping[str, PublishedSet] = MappingProxyType(
    {
        "mt_bench": PublishedSet(
            layout="mt_bench",
            license="Apache-2.0 (questions and references); answers as distributed with MT-Bench",
            page="https://huggingface.co/spaces/lmsys/mt-bench/tree/main/data/mt_bench",
            kilobytes=1016,
            files=(
                PublishedFile(
                    name="question.jsonl",
                    url=f"{_FASTCHAT}/question.jsonl",
                    sha256="119565adbab82227089cefdb44c8d7e2cf04dc0a0ec233634c82e7d4e2a944f7",
                ),
                PublishedFile(
                    name="reference_answer/gpt-4.jsonl",
                    url=f"{_FASTCHAT}/reference_answer/gpt-4.jsonl",
                    sha256="f957a5bc977badb66885ec970e6cd08527845780313f0995764260e5777b9b3f",
                ),
                *(
                    PublishedFile(
                        name=f"model_answer/{model}.jsonl",
                        url=f"{_MT_BENCH_SPACE}/model_answer/{model}.jsonl",
                        sha256=sha256,
                    )
                    for model, sha256 in _MT_BENCH_MODELS.items()
                ),
            ),
        ),
        "mt_bench_human": _one(
            "mt_bench_human",
            "CC-BY-4.0",
            f"{_HF}/lmsys/mt_bench_human_judgments",
            "mt_bench_human.parquet",
            f"{_HF}/lmsys/mt_bench_human_judgments/resolve/main/data/"
            "human-00000-of-00001-25f4910818759289.parquet",
        ),
        "rewardbench": _one(
            "rewardbench",
            "ODC-BY",
            f"{_HF}/allenai/reward-bench",
            "rewardbench.parquet",
            f"{_HF}/allenai/reward-bench/resolve/main/data/filtered-00000-of-00001.parquet",
        ),
        "helpsteer2": _one(
            "helpsteer2",
            "CC-BY-4.0",
            f"{_HF}/nvidia/HelpSteer2",
            "helpsteer2-validation.jsonl.gz",
            f"{_HF}/nvidia/HelpSteer2/resolve/main/validation.jsonl.gz",
        ),
        "judgebench": _one(
            "judgebench",
            "MIT",
            f"{_HF}/ScalerLab/JudgeBench",
            "judgebench-gpt.jsonl",
            f"{_HF}/ScalerLab/JudgeBench/resolve/main/data/gpt-00000-of-00001.jsonl",
        ),
        "evalbias": _one(
            "evalbias",
            "BSD-3-Clause",
            "https://github.com/ncsoft/offsetbias",
            "biasbench.json",
            f"{_GITHUB}/ncsoft/offsetbias/main/data/evalbiasbench/biasbench.json",
            "766684b9fedbd38ae3b5595a8ab0a7ea1abc51683d6e3a0cf8583688eaa09544",
            kilobytes=72,
        ),
        "offsetbias": _one(
            "offsetbias",
            "BSD-3-Clause",
            f"{_HF}/NCSOFT/offsetbias",
            "offsetbias.parquet",
            f"{_HF}/NCSOFT/offsetbias/resolve/refs%2Fconvert%2Fparquet/default/train/0000.parquet",
        ),
        "pandalm": _one(
            "pandalm",
            "Apache-2.0",
            "https://github.com/WeOpenML/PandaLM",
            "testset-v1.json",
            f"{_GITHUB}/WeOpenML/PandaLM/main/data/testset-v1.json",
            "cc154f9067c7382d7ea86f8f246511a5e1ac87e1fddd845c5938d789505b07a4",
            kilobytes=938,
        ),
        "oasst": _one(
            "oasst",
            "Apache-2.0",
            f"{_HF}/OpenAssistant/oasst1",
            "oasst1-ready.trees.jsonl.gz",
            f"{_HF}/OpenAssistant/oasst1/resolve/fdf72ae0827c1cda404aff25b6603abec9e3399b/"
            "2023-04-12_oasst_ready.trees.jsonl.gz",
            "2a9a8fd343e9b28e04a895a669d3253f82d93e9c174d440199ae19d5fafbdff7",
        ),
        "squad": _one(
            "squad",
            "CC-BY-SA-4.0",
            "https://rajpurkar.github.io/SQuAD-explorer",
            "dev-v1.1.json",
            "https://rajpurkar.github.io/SQuAD-explorer/dataset/dev-v1.1.json",
            "95aa6a52d5d6a735563366753ca50492a658031da74f301ac5238b03966972c9",
            kilobytes=4854,
        ),
        "bbh": PublishedSet(
            layout="bbh",
            license="MIT",
            page="https://github.com/suzgunmirac/BIG-Bench-Hard/tree/main/bbh",
            files=tuple(
                PublishedFile(
                    name=f"{task}.json",
                    url=f"{_GITHUB}/suzgunmirac/BIG-Bench-Hard/main/bbh/{task}.json",
                    sha256=sha256,
                )
                for task, sha256 in _BBH_TASKS.items()
            ),
        ),
        "head_to_tail": _one(
            "head_to_tail",
            _STUDY_TERMS,
            _RELIABILITY_PAGE,
            "application_responses.json",
            f"{_RELIABILITY}/application_data/application_responses.json",
            "ee6fb25f0caa79c4269f8465cef2b9dc412f1532045aa244158ba94522f5bd56",
            kilobytes=1408,
        ),
        "llm_reliability": _one(
            "llm_reliability",
            _STUDY_TERMS,
            _RELIABILITY_PAGE,
            "prompt_responses.json",
            f"{_RELIABILITY}/prompt_responses.json",
            "6665ae2485674c69e11b3fa85d37f8956c7afd15df7d1e99ec894e00d522efd4",
            kilobytes=144,
        ),
    }
)
"""The sets that `judgestats.items.fetch` knows, by name."""

_JUDGED = "application_data/judgment_results/judge_full_{}_by_lmsys_vicuna-7b-v1.5.json"
_LABELLED = {
    "testset-v1.json": "cc154f9067c7382d7ea86f8f246511a5e1ac87e1fddd845c5938d789505b07a4",
    "gpt-3.5-turbo-testset-v1.json": (
        "4c00aa7b3eeae504050a037422ba6f5b0a2ee041680f47bb77b8a4b549b128e3"
    ),
    "pandalm-7b-testset-v1.json": (
        "9a40b62a7bb2aa87ca77eb8bfcb51539b5a62f974ce91678d30e834d65ed0a7e"
    ),
}
_STUDIED = {
    "prompt_responses.json": "6665ae2485674c69e11b3fa85d37f8956c7afd15df7d1e99ec894e00d522efd4",
    "squad_sampled_q.json": "0df89d5ec2a5eeee9e3256ca1803da0ef55c4f81418ec0c5e010cb4aadaa671c",
    "bbh_sampled_q.json": "edd011eb5d5a078cc863d95d64c8d95791bf208c3977c5b9b5a899b254aceed8",
    "results/full_judgments.zip": (
        "d8e7dd5e6cae487bc5f9bf1dfc1162658ec2ea76228e61cc5508c2bf514d85b7"
    ),
    "results/accuracy_resp_bbh.csv": (
        "d267d8ffbfc92bbc25ea85f4c98e759211aa9d77626fd7bfe6395989371a6d1d"
    ),
    "results/accuracy_resp_squad.csv": (
        "90c9a10eae85c831fa026be9ff09d6423cf73bcecc200259cd82a3dba4405923"
    ),
    _JUDGED.format("Nexusflow_Starling-LM-7B-beta"): (
        "f0bf49e8816b92d9447f79e27ab908e8ec767b090eab35221ec4376ade3e1c6d"
    ),
    _JUDGED.format("google_gemma-1.1-7b-it"): (
        "909f5ffaff8172145c62b388adfc9527ef80e283a52f2eb90c540296ed9742f9"
    ),
    _JUDGED.format("meta-llama_Meta-Llama-3-8B-Instruct"): (
        "a6641f187d2dcdbea0f3fedac870f57eb5184c65a27040d193410bc9618527cb"
    ),
}

STUDY_DATA: Mapping[str, PublishedSet] = MappingProxyType(
    {
        "llmasjudge": _one(
            "",
            _STUDY_TERMS,
            "https://github.com/lad6558/LLMasJudge",
            "LLMasJudge.zip",
            "https://codeload.github.com/lad6558/LLMasJudge/zip/HEAD",
        ),
        "pandalm": PublishedSet(
            layout="",
            license="Apache-2.0",
            page="https://github.com/WeOpenML/PandaLM",
            kilobytes=1759,
            files=tuple(
                PublishedFile(name=name, url=f"{_PANDALM}/{name}", sha256=sha256)
                for name, sha256 in _LABELLED.items()
            ),
        ),
        "schroeder2024": PublishedSet(
            layout="",
            license=_STUDY_TERMS,
            page=_RELIABILITY_PAGE,
            kilobytes=6746,
            files=tuple(
                PublishedFile(
                    name=place.rpartition("/")[2], url=f"{_RELIABILITY}/{place}", sha256=sha256
                )
                for place, sha256 in _STUDIED.items()
            ),
        ),
    }
)
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
            "is no "
            f"network: download it elsewhere (from {published.page or file.url}), put it at "
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
