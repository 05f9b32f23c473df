"""What a parameter may be: types that know how their text is read, and the error for a wrong one.

A field of a `ParameterModel` declares a parameter completely: its name, its type, its default as a
user would write it, its help. All else (command line, docs, MLproject, what a run logs) follows
from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, core_schema

from judgestats.errors import InputError, nearest

BY_LEVEL = "_by_level"
TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class ParsedParam:
    """Part of a parameter's type: how its text is read (``read(name, text)``).

    `words` are those it may be, `or_word` one that it may be instead (``all``, or nothing), which
    is then `instead`.
    """

    read: Callable[[str, str], Any]
    words: tuple[str, ...] = ()
    or_word: str | None = None
    instead: Any = None

    def __call__(self, name: str, text: str) -> Any:
        """The value of a text."""
        return self.instead if text == self.or_word else self.read(name, text)

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Texts are read, values (of another type) only checked."""
        name = handler.field_name or ""

        def read(value: Any) -> Any:
            return self(name, value) if isinstance(value, str) else value

        return core_schema.no_info_before_validator_function(read, handler(source))


def read_names(name: str, value: str) -> tuple[str, ...]:
    """Names, comma-separated, at least one and each once."""
    names = tuple(v.strip() for v in value.split(",") if v.strip())
    if not names:
        raise InputError(f"{name}: give at least one name, got {value!r}.")
    repeated = sorted({n for n in names if names.count(n) > 1})
    if repeated:
        raise InputError(f"{name}: {', '.join(repeated)} stands more than once.")
    return names


def IntParam(  # noqa: N802 - part of a type
    low: int, high: int = 10**9, *, or_word: str | None = None
) -> ParsedParam:
    """A whole number within bounds, or what `or_word` stands for: None."""

    def read(name: str, value: str) -> int:
        try:
            number = int(value)
        except ValueError:
            raise InputError(f"{name}: expected a whole number, got {value!r}.") from None
        if not low <= number <= high:
            bound = f"at least {low}" if high == 10**9 else f"from {low} to {high}"
            raise InputError(f"{name}: must be {bound}, got {number}.")
        return number

    return ParsedParam(read, or_word=or_word)


def ChoiceParam(*words: str) -> ParsedParam:  # noqa: N802 - part of a type
    """One of these words."""

    def read(name: str, value: str) -> str:
        if value not in words:
            raise InputError(
                f"{name}: must be one of {', '.join(words)}, got {value!r}.{nearest(value, words)}"
            )
        return value

    return ParsedParam(read, words=words)


def Choices(*words: str, or_word: str | None = None, instead: Any = None) -> ParsedParam:  # noqa: N802
    """Some of these words, or `instead` where `or_word` stands."""

    def read(name: str, value: str) -> tuple[str, ...]:
        chosen = read_names(name, value)
        for word in chosen:
            if word not in words:
                raise InputError(
                    f"{name}: {word!r} is not one of {', '.join(words)}.{nearest(word, words)}"
                )
        return chosen

    return ParsedParam(read, words=words, or_word=or_word, instead=instead)


def OrNone(read: Callable[[str, str], tuple[Any, ...]]) -> ParsedParam:  # noqa: N802 - part of a type
    """Several values, or ``none`` of them."""
    return ParsedParam(read, or_word="none", instead=())


def _positive(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        raise InputError(f"{name}: expected a number, got {value!r}.") from None
    if not 0 < number < float("inf"):
        raise InputError(f"{name}: must be a number above 0, got {value}.")
    return number


def _temperatures(name: str, value: str) -> tuple[float | None, ...]:
    numbers = []
    listed = read_names(name, value)
    if listed == ("default",):
        return (None,)
    if "default" in listed:
        raise InputError(
            f"{name}: default leaves the temperature to the server, so its value is unknown and it "
            "cannot be combined with numbers. Give it alone."
        )
    for part in listed:
        try:
            number = float(part)
        except ValueError:
            raise InputError(
                f"{name}: {part!r} is not a number. Write for example {name}=0,0.5,1."
            ) from None
        if not 0 <= number <= 2:
            raise InputError(f"{name}: {part} is out of range; a temperature lies in 0-2.")
        numbers.append(number)
    if len(set(numbers)) < len(numbers):
        raise InputError(f"{name}: the same temperature stands more than once in {value!r}.")
    return tuple(sorted(numbers))


def _one_temperature(name: str, value: str) -> float | None:
    temperatures = _temperatures(name, value)
    if len(temperatures) != 1:
        raise InputError(f"{name}: give one temperature, got {value!r}.")
    return temperatures[0]


def _truth(name: str, value: str) -> bool:
    if value.strip().lower() not in TRUTH:
        raise InputError(f"{name}: expected true or false, got {value!r}.")
    return TRUTH[value.strip().lower()]


def read_pairs(name: str, value: str) -> Mapping[str, str]:
    """Two names joined by ``=``, commas between them.

    Examples
    --------
    >>> read_pairs("own", "gpt-4o=openai, mine=me")
    {'gpt-4o': 'openai', 'mine': 'me'}
    """
    out = {}
    for part in filter(None, (p.strip() for p in value.split(","))):
        ours, sign, theirs = part.partition("=")
        if not sign or not ours.strip() or not theirs.strip():
            raise InputError(f"{name}: expected ours=theirs[,...], got {part!r}.")
        out[ours.strip()] = theirs.strip()
    return out


ListParam = Annotated[tuple[str, ...], ParsedParam(read_names)]
OptionalNames = Annotated[tuple[str, ...] | None, ParsedParam(read_names, or_word="")]
Pairs = Annotated[Mapping[str, str], ParsedParam(read_pairs)]
Positive = Annotated[float, ParsedParam(_positive)]
OptionalPositive = Annotated[float | None, ParsedParam(_positive, or_word="")]
Switch = Annotated[bool, ParsedParam(_truth, words=("true", "false"))]
OnOff = Annotated[Literal["on", "off"], ChoiceParam("on", "off")]
Temperature = Annotated[float | None, ParsedParam(_one_temperature)]
Temperatures = Annotated[tuple[float | None, ...], ParsedParam(_temperatures)]


def parameter(
    default: str,
    help: str,  # noqa: A002
    *,
    group: str = "Design",
    common: bool = False,
    by_level: bool = False,
    logged: str = "",
) -> Any:
    """A field of a `ParameterModel`.

    Parameters
    ----------
    default : str
        As a user would write it.
    help : str
    group : str
        The heading that the command's help lists it under.
    common : bool
        One of the ten that the help lists first.
    by_level : bool
        It may also be given as ``name.LEVEL=...`` for one level of what is compared; these are
        read into ``<name>_by_level``.
    logged : str
        Its name among the parameters of the run in MLflow; by default ``parameter/NAME``.
    """
    extra: dict[str, Any] = {
        "by_level": by_level, "logged": logged, "group": group, "common": common,
    }  # fmt: skip
    return Field(default, validate_default=True, description=help, json_schema_extra=extra)


data_option = partial(parameter, group="Data")
judge_option = partial(parameter, group="Judges")
request_option = partial(parameter, group="Request")
budget_option = partial(parameter, group="Budget")
analysis_option = partial(parameter, group="Analysis")
output_option = partial(parameter, group="Output")


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """What a field of a `ParameterModel` declares, for whatever lists parameters."""

    name: str
    default: str
    help: str
    words: tuple[str, ...] = ()
    switch: bool = False
    by_level: bool = False
    logged: str = ""
    group: str = ""
    common: bool = False
    or_word: str = ""


class ParameterModel(BaseModel):
    """The parameters of an experiment, read; an experiment's own is a class of it."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    @classmethod
    def read(cls, texts: Mapping[str, Any]) -> Self:
        """The parameters as their texts say them; those that are not given by default.

        Raises
        ------
        InputError
            Message for the first wrong one.
        """
        try:
            return cls.model_validate(dict(texts))
        except ValidationError as error:
            cause = error.errors()[0].get("ctx", {}).get("error")
            if isinstance(cause, InputError):
                raise cause from None
            raise

    def changed(self, **values: Any) -> Self:
        """The same with other values."""
        return self.model_copy(update=values)

    def __getitem__(self, name: str) -> Any:
        """A parameter whose name is data; the others are attributes."""
        if name not in type(self).model_fields:
            raise KeyError(name)
        return getattr(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        """A parameter that not every experiment has."""
        return getattr(self, name) if name in self else default

    def __contains__(self, name: object) -> bool:
        """Whether the experiment has a parameter of this name."""
        return name in type(self).model_fields

    def values(self) -> dict[str, Any]:
        """All values by name, for an analysis, which knows no experiment."""
        return {name: getattr(self, name) for name in type(self).model_fields}

    def as_texts(self) -> dict[str, str]:
        """Every parameter as a text, by its name: what a run records, and is compared by.

        Examples
        --------
        >>> class Drawn(ParameterModel):
        ...     seed: Annotated[int | None, IntParam(0, or_word="")] = parameter("", "of sampling")
        >>> Drawn.read({}).as_texts(), Drawn.read({"seed": "7"}).as_texts()
        ({'seed': 'default'}, {'seed': '7'})
        """
        out = {}
        for p in parameters_of(type(self)):
            out[p.name] = _as_text(self[p.name], p.or_word)
            if p.by_level:
                levels = self[f"{p.name}{BY_LEVEL}"]
                out |= {f"{p.name}.{level}": text for level, text in levels.items()}
        return out

    def logged(self) -> dict[str, str]:
        """The same by the names under which MLflow shows them."""
        called = {p.name: p.logged for p in parameters_of(type(self))}
        return {
            called.get(name) or f"parameter/{name}": text for name, text in self.as_texts().items()
        }


def _as_text(value: Any, or_word: str) -> str:
    """A value as a user could have written it; ``default`` where it is not one."""
    if value is None or (isinstance(value, (str, tuple, Mapping)) and not value):
        return or_word or "default"
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={_as_text(v, '')}" for k, v in value.items())
    if isinstance(value, tuple):
        return ", ".join(_as_text(v, "") for v in value)
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) else str(getattr(value, "name", value))


def parameters_of(model: type[ParameterModel]) -> tuple[Parameter, ...]:
    """What a model declares, in order.

    Examples
    --------
    >>> class Drawn(ParameterModel):
    ...     seed: Annotated[int, IntParam(0)] = parameter("0", "of sampling")
    >>> Drawn.read({"seed": "7"}).seed, parameters_of(Drawn)[0].default
    (7, '0')
    """
    listed = []
    for name, field in model.model_fields.items():
        if not isinstance(field.json_schema_extra, dict):
            continue  # what `name.LEVEL=` is read into is no parameter of its own
        read = next((m for m in field.metadata if isinstance(m, ParsedParam)), None)
        listed.append(
            Parameter(
                name=name,
                default=str(field.default),
                help=str(field.description),
                words=read.words if read else (),
                switch=read is not None and read.read is _truth,
                or_word=(read.or_word or "") if read else "",
                **cast("dict[str, Any]", field.json_schema_extra),
            )
        )
    return tuple(listed)
