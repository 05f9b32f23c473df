"""Loading a model by name or path: safe formats only, no code from the model's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.items.records import shown
from judgestats.training.needs import need

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>\\n' + message['content'] + '\\n' }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}"
)
"""Given to a base model's tokenizer that has none; saved with the fine-tuned model."""


def load(name_or_path: str, *, kind: str, extra: str) -> tuple[Any, Any]:
    """A model and its tokenizer, from a folder or by its name on a hub.

    Parameters
    ----------
    name_or_path : str
        What looks like a path (it begins with ``.`` or ``/``, or exists) is never looked up.
    kind : str
        A class of transformers, such as ``AutoModelForCausalLM``.
    extra : str
        The extra that brings transformers.

    Returns
    -------
    model, tokenizer

    Raises
    ------
    InputError
        If it cannot be loaded. Weights must be safetensors, and code that a model brings along is
        not run.
    """
    (transformers,) = need(extra, "transformers")
    path = Path(name_or_path)
    local = name_or_path.startswith((".", "/", "~")) or path.exists()
    if local and not path.is_dir():
        raise InputError(f"model: there is no folder {name_or_path!r}. Give a model's folder.")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            name_or_path, trust_remote_code=False, local_files_only=local
        )
        model = getattr(transformers, kind).from_pretrained(
            name_or_path,
            trust_remote_code=False,
            use_safetensors=True,
            local_files_only=local,
            attn_implementation="eager",
        )
    except (OSError, ValueError, KeyError, ImportError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(
            f"model: {name_or_path!r} cannot be loaded as {kind} ({shown(first, 200)}). Give a "
            "folder with config.json, tokenizer and safetensors weights, or a name on the hub."
        ) from error
    return model, tokenizer
