"""Tiny random models, a server for them, and stand-ins of the sets on which judges are evaluated.

Nothing is downloaded: tokenizers are made from the texts, weights from a config, stand-ins from the
bank that ships with judgestats.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from local import LocalJudge

from judgestats.items import load_items

SEED = 0
TOKENS = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "pad": "<pad>"}


def make_tokenizer(texts: list[str], folder: Path) -> Any:
    """A byte-level BPE tokenizer trained on the texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE(unk_token=TOKENS["unk"]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=2000,
            special_tokens=list(TOKENS.values()),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    inner.post_processor = processors.ByteLevel(trim_offsets=False)
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        **{f"{name}_token": token for name, token in TOKENS.items()},
    )
    made.save_pretrained(str(folder))
    return made


def make_causal(texts: list[str], folder: Path, *, width: int = 96, seed: int = SEED) -> Path:
    """A tiny Llama with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM, set_seed

    tokenizer = make_tokenizer(texts, folder)
    set_seed(seed)
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=width,
            intermediate_size=2 * width,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=4096,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    ).save_pretrained(str(folder))
    return folder


def make_bart(texts: list[str], folder: Path) -> Path:
    """A tiny BART with random weights."""
    from transformers import BartConfig, BartForConditionalGeneration, set_seed

    tokenizer = make_tokenizer(texts, folder)
    set_seed(SEED)
    BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(tokenizer),
            d_model=64,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=128,
            decoder_ffn_dim=128,
            max_position_embeddings=1024,
            init_std=0.6,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            decoder_start_token_id=tokenizer.eos_token_id,
        )
    ).save_pretrained(str(folder))
    return folder


def lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Rows as a file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@contextmanager
def served(folder: Path, *, max_tokens: int) -> Iterator[str]:
    """The base URL of a server that answers for the models below a folder, by their names."""
    models: dict[str, LocalJudge] = {}
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

        def do_POST(self) -> None:
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name = given["model"]
            with lock:
                if name not in models:
                    models[name] = LocalJudge(str(folder / name), max_tokens=max_tokens)
                said, ended = models[name].reply(
                    given["messages"], temperature=given.get("temperature") or 0.0
                )
            message = {"role": "assistant", "content": said or "."}
            body = json.dumps(
                {
                    "id": "local",
                    "object": "chat.completion",
                    "created": 0,
                    "model": name,
                    "choices": [{"index": 0, "message": message, "finish_reason": ended}],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
                }
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def questions(count: int) -> list[str]:
    """So many questions of the bank, each of one turn."""
    return [item.turns[0] for item in load_items("bank") if len(item.turns) == 1][:count]


def stand_ins(folder: Path, *, pairs: int) -> str:
    """Small stand-ins of the five sets of study D in their layouts, as ``items=`` takes them."""
    made: dict[str, list[dict[str, Any]]] = {}
    for number, item in enumerate([i for i in load_items("bank") if len(i.turns) == 1][:pairs]):
        ranked = sorted(item.responses, key=lambda r: r.quality or 0.0)
        question, good, bad = item.turns[0], ranked[-1].text, ranked[0].text
        first = number % 2 == 0
        one, two = (good, bad) if first else (bad, good)
        told = ("helpfulness", "correctness", "coherence", "complexity", "verbosity")
        rows = {
            "rewardbench": [
                {"id": number, "subset": "made", "prompt": question, "chosen": good,
                 "chosen_model": "m", "rejected": bad, "rejected_model": "n"}
            ],
            "helpsteer2": [
                {"prompt": question, "response": text, **dict.fromkeys(told, mark)}
                for text, mark in ((good, 4), (bad, 1))
            ],
            "mt_bench_human": [
                {"question_id": number, "model_a": "m", "model_b": "n", "turn": 1,
                 "winner": "model_a" if first else "model_b", "judge": "expert_1",
                 **{f"conversation_{side}": [{"role": "user", "content": question},
                                             {"role": "assistant", "content": text}]
                    for side, text in (("a", one), ("b", two))}}
            ],
            "judgebench": [
                {"pair_id": f"p{number}", "original_id": str(number), "source": "made",
                 "question": question, "response_model": "m", "response_A": one,
                 "response_B": two, "label": "A>B" if first else "B>A"}
            ],
            "offsetbias": [
                {"instruction": question, "output_1": one, "output_2": two,
                 "label": "1" if first else "2"}
            ],
        }  # fmt: skip
        for name, given in rows.items():
            made.setdefault(name, []).extend(given)
    return ",".join(
        f"{name}:{lines(folder / 'sets' / f'{name}.jsonl', rows)}" for name, rows in made.items()
    )


def mt_bench(folder: Path, models: Mapping[str, LocalJudge], *, count: int) -> Path:
    """A folder in MT-Bench's layout with the models' answers to both turns.

    Of the benchmark itself FastChat's ``gen_model_answer.py`` writes it.
    """
    asked = [
        {"question_id": n, "category": "made", "turns": [q, "Say it in one sentence."]}
        for n, q in enumerate(questions(count), start=81)
    ]
    lines(folder / "question.jsonl", asked)
    for name, model in models.items():
        answered = []
        for row in asked:
            said: list[dict[str, str]] = []
            for turn in row["turns"]:
                said.append({"role": "user", "content": turn})
                text, _ = model.reply(said)
                said.append({"role": "assistant", "content": text or "."})
            turns = [m["content"] for m in said if m["role"] == "assistant"]
            answered.append({"question_id": row["question_id"], "choices": [{"turns": turns}]})
        lines(folder / "model_answer" / f"{name}.jsonl", answered)
    return folder
