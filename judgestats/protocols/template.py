"""Prompt texts are files; a prompt is identified by the hash of its text."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path

from judgestats.errors import InputError
from judgestats.protocols.frame import seal_of, sealed

_PART = re.compile(r"^\[(system|user)\][ \t]*$", re.MULTILINE)
_NAME = re.compile(r"\{([a-z_]+)\}")
_MAX_BYTES = 200_000


def bundled_prompts() -> tuple[str, ...]:
    """Names of the prompt texts that ship with judgestats.

    Examples
    --------
    >>> "pointwise" in bundled_prompts()
    True
    """
    folder = resources.files("judgestats.protocols").joinpath("prompts")
    return tuple(sorted(f.name[:-4] for f in folder.iterdir() if f.name.endswith(".txt")))


def put_in(text: str, values: Mapping[str, str]) -> str:
    """A text with the known placeholders replaced, in one pass; other words in braces stay.

    Examples
    --------
    >>> put_in("{a} {b} {c}", {"a": "{b}", "b": "2"})
    '{b} 2 {c}'
    """
    return _NAME.sub(lambda match: values.get(match.group(1), match.group(0)), text)


@dataclass(frozen=True)
class PromptTemplate:
    """A prompt text with ``{placeholders}``.

    The text may be split into a ``[system]`` and a ``[user]`` part, each heading alone on its line;
    without headings all of it is the user message. Only the placeholders a protocol offers are
    replaced, in one pass, so that braces in a question or an answer stay as they are.

    With ``append=False`` a user's text is sent as it is: no reply instruction follows it, and of
    its white space only the line break behind a heading, before the next one and at the file's end
    is not part of a message.

    Examples
    --------
    >>> t = PromptTemplate(text="[system]\\nBe fair.\\n[user]\\n{question} {response}", name="x")
    >>> [m["role"] for m in t.fill({"question": "Why?", "response": "{question}"})]
    ['system', 'user']
    >>> t.fill({"question": "Why?", "response": "{question}"})[1]["content"]
    'Why? {question}'
    """

    text: str
    name: str = ""
    ours: bool = field(default=False, compare=False)
    append: bool = True

    @cached_property
    def sha(self) -> str:
        """First 12 hex digits of the SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    @cached_property
    def placeholders(self) -> frozenset[str]:
        """The names in braces."""
        return frozenset(_NAME.findall(self.text))

    @classmethod
    def bundled(cls, name: str) -> PromptTemplate:
        """A prompt text that ships with judgestats, by name."""
        if name not in bundled_prompts():
            names = ", ".join(bundled_prompts())
            raise InputError(f"prompt: no bundled prompt is called {name!r}. There are: {names}.")
        file = resources.files("judgestats.protocols").joinpath("prompts", f"{name}.txt")
        return cls(text=file.read_text(encoding="utf-8"), name=name, ours=True)

    @classmethod
    def load(cls, name_or_path: str, *, append: bool = True) -> PromptTemplate:
        """A bundled prompt by name, or a user's own text file by path."""
        if name_or_path in bundled_prompts():
            return cls.bundled(name_or_path)
        path = Path(name_or_path)
        if not path.is_file():
            raise InputError(
                f"prompt: there is no file {name_or_path!r} in {Path.cwd()}, and no bundled prompt "
                f"of that name (there are: {', '.join(bundled_prompts())})."
            )
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"prompt: {name_or_path} is larger than {_MAX_BYTES} bytes.")
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"prompt: {name_or_path} is not UTF-8 text ({error}).") from error
        return cls(text=text, name=path.name, append=append)

    def require(self, needed: Iterable[str], *, offered: Iterable[str]) -> None:
        """Raise unless the text holds every needed placeholder, and none that looks misspelt."""
        needed, offered = set(needed), set(offered)
        missing = sorted(needed - self.placeholders)
        if missing:
            raise InputError(
                f"prompt {self.name!r}: the text lacks "
                + " and ".join(f"{{{m}}}" for m in missing)
                + ", so a judge would not see what it judges. Placeholders on offer: "
                + ", ".join(f"{{{o}}}" for o in sorted(offered))
                + "."
            )

        for name in sorted(self.placeholders - offered):
            near = difflib.get_close_matches(name, offered, n=1, cutoff=0.75)
            if near:
                raise InputError(
                    f"prompt {self.name!r}: {{{name}}} is no placeholder; did you mean "
                    f"{{{near[0]}}}? Other words in braces are left as they are."
                )

    def seal(self, texts: Iterable[str]) -> str:
        """The seal of the frame around some texts; a user's or a study's prompt has none."""
        return seal_of(texts) if self.ours else ""

    def fill(self, values: Mapping[str, str], *, seal: str = "") -> tuple[dict[str, str], ...]:
        """The chat messages, with the known placeholders replaced in one pass."""
        text = sealed(self.text, seal)
        parts = _PART.split(text)
        sections = (
            [("user", text)]
            if len(parts) == 1
            else [("user", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]
        )
        tidy = self.append or self.ours
        messages = []
        for place, (role, body) in enumerate(sections):
            if tidy:
                content = re.sub(r"\n{3,}", "\n\n", put_in(body.strip("\n"), values)).strip()
            else:
                own = body.removeprefix("\n") if place else body
                content = put_in(own.removesuffix("\n"), values)
            if content.strip():
                messages.append({"role": role, "content": content})
        return tuple(messages)

    def ask(self, values: Mapping[str, str], *, seal: str = "") -> tuple[dict[str, str], ...]:
        """The chat messages with the reply instruction (``values["reply"]``).

        Where the text says ``{reply}`` the instruction stands there; where it does not it follows
        the last message, unless nothing may be appended.

        Examples
        --------
        >>> t = PromptTemplate(text="{question} {response}", name="mine")
        >>> given = {"question": "Why?", "response": "So.", "reply": "Score it."}
        >>> t.ask(given)[0]["content"]
        'Why? So.\\n\\nScore it.'
        >>> PromptTemplate(text=t.text, append=False).ask(given)[0]["content"]
        'Why? So.'
        """
        messages = self.fill(values, seal=seal)
        if "reply" in self.placeholders or not self.append:
            return messages
        *before, last = messages
        return (*before, {**last, "content": f"{last['content']}\n\n{values['reply']}"})

    def instruction(self, values: Mapping[str, str]) -> str:
        """What `ask` says on the form of the reply: nothing where it has no place and no leave."""
        return values["reply"] if self.append or "reply" in self.placeholders else ""
