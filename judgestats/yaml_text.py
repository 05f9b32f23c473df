"""YAML of a user's, read with bounded work: no bombs of aliases, no deep nesting, no huge files."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

_LONGEST = 200_000
_DEEPEST = 40
_MOST_VALUES = 20_000
"""Values, an alias counted for everything that it stands for."""
_TOO_MANY = f"it holds more than {_MOST_VALUES:,} values, aliases written out"


class YamlTextError(ValueError):
    """Why a text is not usable YAML, with line and column, never with its content."""


def read_yaml_file(path: Path) -> Any:
    """What a YAML file holds.

    Raises
    ------
    OSError
        The file cannot be opened.
    YamlTextError
        A pipe or device, too large, not UTF-8, or as `read_yaml` says.
    """
    if path.exists() and not path.is_file():
        raise YamlTextError("it is not a regular file")
    if path.stat().st_size > 4 * _LONGEST:
        raise YamlTextError(f"it is longer than {_LONGEST:,} characters")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise YamlTextError("it is not UTF-8 text") from None
    return read_yaml(text)


def read_yaml(text: str) -> Any:
    """What a YAML text holds: a plain value.

    Raises
    ------
    YamlTextError
        The text is not YAML, is longer than 200,000 characters, is deeper than 40 levels, or has
        more than 20,000 values with every alias expanded. An alias contains itself, or a key
        occurs twice.

    Examples
    --------
    >>> read_yaml("a: &it {b: 1}\\nc: *it")
    {'a': {'b': 1}, 'c': {'b': 1}}
    >>> read_yaml("a: 1\\na: 2")
    Traceback (most recent call last):
    ...
    judgestats.yaml_text.YamlTextError: a key occurs twice (line 2, column 1)
    """
    if len(text) > _LONGEST:
        raise YamlTextError(f"it is longer than {_LONGEST:,} characters")
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_size(node, {})
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:  # its own words quote the line, and a key in it
        raise YamlTextError(f"no YAML{_format_position(error.problem_mark)}") from None
    except yaml.YAMLError:
        raise YamlTextError("no YAML: a character that it may not hold") from None
    except YamlTextError:
        raise
    except ValueError:  # a day that is none, a number of thousands of digits
        raise YamlTextError("a date or number in it is not valid. Put it in quotes") from None
    finally:
        if loader is not None:
            loader.dispose()


class _Loader(yaml.SafeLoader):
    """The safe loader that follows nesting and values no further than they may go."""

    _depth = 0
    _values = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise YamlTextError(f"it is nested deeper than {_DEEPEST} levels")
        self._values += 1
        if self._values > _MOST_VALUES:
            raise YamlTextError(_TOO_MANY)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _check_size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """How many values a node stands for; each node is walked once, however often it is named."""
    if id(node) in sizes:
        if sizes[id(node)] == 0:
            raise YamlTextError("an alias stands within what it names")
        return sizes[id(node)]
    sizes[id(node)] = 0
    children: list[yaml.Node] = []
    if isinstance(node, yaml.SequenceNode):
        children = node.value
    elif isinstance(node, yaml.MappingNode):
        children = [part for pair in node.value for part in pair]
        _check_keys(node)
    total = 1 + sum(_check_size(child, sizes) for child in children)
    if total > _MOST_VALUES:
        raise YamlTextError(_TOO_MANY)
    sizes[id(node)] = total
    return total


def _check_keys(node: yaml.MappingNode) -> None:
    seen: set[Hashable] = set()
    for key, _ in node.value:
        mark = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else id(key)
        if mark in seen:
            raise YamlTextError(f"a key occurs twice{_format_position(key.start_mark)}")
        seen.add(mark)


def _format_position(mark: Any) -> str:
    return f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
