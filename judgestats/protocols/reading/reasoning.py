"""Reasoning that stands in a reply beside the answer: it goes before anything is read."""

from __future__ import annotations

import re

_NAMES = r"think|thinking|thoughts?|reasoning|reflection|scratchpad|seed:think"
_TAG = re.compile(
    rf"<(?P<close>/)?(?P<name>{_NAMES})>"
    r"|\[(?P<close_square>/)?(?P<square>THINK)\]"
    r"|\u25c1(?P<close_triangle>/)?(?P<triangle>think)\u25b7"
    r"|<\|(?P<side>begin|end)_of_(?P<of>thought)\|>"
    r"|<\|(?P<when>START|END)_(?P<caps>THINKING)\|>",
    re.IGNORECASE,
)
_LEFTOVERS = re.compile(
    r"<\|(?:START_RESPONSE|END_RESPONSE|begin_of_solution|end_of_solution|return|end|im_end|"
    r"endoftext|eot_id)\|>",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s{0,3}(\w{1,20})[^<]{0,100}<\|message\|>", re.IGNORECASE)
_CHANNEL_END = re.compile(r"<\|(?:end|return|start|channel|call)\|>", re.IGNORECASE)
_ELEMENT = re.compile(r"<(answer|response|output)>", re.IGNORECASE)
_ELEMENT_END = re.compile(r"</(answer|response|output)>\Z", re.IGNORECASE)
_THOUGHTS = re.compile(r"\s{0,100}here is my thought process:", re.IGNORECASE)
_RESPONSE = re.compile(r"here is my response:", re.IGNORECASE)


def without_reasoning(text: str) -> str:
    """What is left of a reply without its reasoning.

    Examples
    --------
    >>> without_reasoning("<think>a <think>b</think> [[3]]</think> [[8]]")
    '[[8]]'
    >>> without_reasoning("[[3]]</think>[[8]] <think> no, [[4]]")
    '[[8]]'
    >>> without_reasoning("<thinking>hm</thinking> So: <answer>[[8]]</answer>")
    '[[8]]'
    """
    text = _last_channel(text)
    text = _LEFTOVERS.sub(" ", _without_blocks(text)).strip()
    if _THOUGHTS.match(text):
        responses = [r.end() for r in _RESPONSE.finditer(text)]
        text = text[responses[-1] :].strip() if responses else ""
    end = _ELEMENT_END.search(text, max(len(text) - 12, 0))
    if end is not None:
        name = end.group(1).lower()
        inside = [e.end() for e in _ELEMENT.finditer(text) if e.group(1).lower() == name]
        if inside:
            text = text[inside[-1] : end.start()].strip()
    return text


def _last_channel(text: str) -> str:
    """Of a reply in channels, the last one called final; nothing if there is none."""
    if "<|channel|>" in text:
        final = None
        for channel in _CHANNEL.finditer(text):
            if channel.group(1).lower() == "final":
                final = channel
        if final is None:
            return ""
        end = _CHANNEL_END.search(text, final.end())
        return text[final.end() : end.start() if end else len(text)]
    if text.startswith("analysis"):
        return text.rpartition("assistantfinal")[2] if "assistantfinal" in text else ""
    return text


def _without_blocks(text: str) -> str:
    """Blocks of reasoning taken out, nested or repeated, opened or closed once too often."""
    kept: list[str] = []
    stack: list[str] = []
    depth: dict[str, int] = {}
    start = 0
    for tag in _TAG.finditer(text):
        name, closes = _tag(tag)
        if not stack:
            if closes:
                kept.clear()  # the template had opened it: all before was reasoning
                start = tag.end()
                continue
            kept.append(text[start : tag.start()])
        if not closes:
            stack.append(name)
            depth[name] = depth.get(name, 0) + 1
        elif depth.get(name):
            while True:
                inner = stack.pop()
                depth[inner] -= 1
                if inner == name:
                    break
            start = tag.end()
    if not stack:
        kept.append(text[start:])
    return " ".join(kept)


def _tag(tag: re.Match[str]) -> tuple[str, bool]:
    parts = tag.groupdict()
    name = next(parts[k] for k in ("name", "square", "triangle", "of", "caps") if parts[k])
    closes = any(parts[k] for k in ("close", "close_square", "close_triangle"))
    side = (parts["side"] or parts["when"] or "").lower()
    return f"{tag.group()[0]}{name.lower()}{bool(side)}", closes or side == "end"
