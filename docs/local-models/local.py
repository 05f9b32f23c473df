"""A causal language model as a judge in this process, for the proof on tiny models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgestats.errors import InputError
from judgestats.training import CHAT_TEMPLATE, load, need


class LocalJudge:
    """A causal language model, asked in plain text.

    Parameters
    ----------
    model : str
        A model's folder (as `train_judge` leaves it), or its name on the hub.
    max_tokens : int
        Longest reply.
    """

    def __init__(self, model: str, *, max_tokens: int = 512) -> None:
        if max_tokens < 1:
            raise InputError(f"LocalJudge: max_tokens must be at least 1, got {max_tokens}.")
        (self._torch,) = need("train", "torch")
        self._model, self._tokenizer = load(model, kind="AutoModelForCausalLM", extra="train")
        if not self._tokenizer.chat_template:
            self._tokenizer.chat_template = CHAT_TEMPLATE
        self._model.eval()
        self._max_tokens = max_tokens

    def reply(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int | None = None,
    ) -> tuple[str, str]:
        """A reply's text and why it ended (``stop`` or ``length``).

        Parameters
        ----------
        messages : sequence of mapping
        temperature : float
            0 takes the likeliest token.
        seed : int
        max_tokens : int, optional
            Less than the judge's own limit.

        Returns
        -------
        tuple of str
        """
        text = self._tokenizer.apply_chat_template(
            [dict(m) for m in messages], tokenize=False, add_generation_prompt=True
        )
        asked = self._tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
        room = int(getattr(self._model.config, "max_position_embeddings", 0) or 10**9)
        most = min(self._max_tokens, max_tokens or self._max_tokens, room - asked.shape[1])
        if most < 1:
            raise InputError(
                f"LocalJudge: the prompt has {asked.shape[1]} tokens, the model takes {room}. "
                "Shorten the items, or take another model."
            )
        self._torch.manual_seed(seed)
        sampling: dict[str, Any] = (
            {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
            if temperature > 0
            else {"do_sample": False}
        )
        with self._torch.inference_mode():
            given = self._model.generate(
                input_ids=asked,
                attention_mask=self._torch.ones_like(asked),
                max_new_tokens=most,
                pad_token_id=self._tokenizer.pad_token_id or self._tokenizer.eos_token_id,
                **sampling,
            )
        new = given[0, asked.shape[1] :]
        ended = self._tokenizer.eos_token_id in new.tolist()
        decoded = self._tokenizer.decode(new, skip_special_tokens=True).strip()
        return decoded, "stop" if ended else "length"
