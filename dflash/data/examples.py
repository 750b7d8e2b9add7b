"""A record as tokens and a mask of those that count in the loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dflash.data.records import Record
from dflash.data.tokenizer import Messages, Tokenizer


@dataclass(frozen=True)
class Example:
    """`counts[i]` says whether token i is a response token, on which the drafter is trained."""

    tokens: list[int]
    counts: list[bool]

    def pieces(self, length: int, split: bool) -> Iterator[Example]:
        """At most `length` tokens each: the first ones, or all of them with `split`."""
        for start in range(0, len(self.tokens) if split else 1, length):
            yield Example(self.tokens[start : start + length], self.counts[start : start + length])


def encode(record: Record, tokenizer: Tokenizer, turns: str = "all") -> Example:
    """Tokens of a record. `turns`: train on `all` assistant turns or the `last` one.

    Raises ValueError where a record holds nothing to train on or its template can't be masked.
    """
    if "prompt_ids" in record:
        prompt, response = record["prompt_ids"], record["response_ids"]
        return Example(prompt + response, [False] * len(prompt) + [True] * len(response))
    if "messages" in record:
        return _encode_chat(record["messages"], tokenizer, turns)
    if "text" in record:
        tokens = tokenizer.encode(record["text"])
        return Example(tokens, [True] * len(tokens))
    if not isinstance(record.get("response"), str):
        raise ValueError("a prompt without a response: run dflash regenerate first")
    prompt = tokenizer.encode(record["prompt"])
    response = [*tokenizer.encode(record["response"]), *tokenizer.stop_ids[:1]]
    return Example(prompt + response, [False] * len(prompt) + [True] * len(response))


def prompt_of(record: Record, tokenizer: Tokenizer) -> tuple[list[int], list[dict[str, Any]] | None]:
    """Tokens that ask for a response, and the chat they come from: an answer that is there is dropped."""
    if "prompt_ids" in record:
        return record["prompt_ids"], None
    if "messages" in record:
        messages = list(record["messages"])
        while messages and messages[-1]["role"] == "assistant":
            messages.pop()
        if not messages:
            raise ValueError("the chat has no turn before the assistant's")
        return tokenizer.chat(messages, add_generation_prompt=True), messages
    return tokenizer.encode(record.get("prompt") or record["text"]), None


def _encode_chat(messages: Messages, tokenizer: Tokenizer, turns: str) -> Example:
    assistant = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
    if not assistant:
        raise ValueError("the chat has no assistant turn: run dflash regenerate first")
    tokens = tokenizer.chat(messages[: assistant[-1] + 1], add_generation_prompt=False)
    counts = [False] * len(tokens)
    for i in assistant if turns == "all" else assistant[-1:]:
        before = tokenizer.chat(messages[:i], add_generation_prompt=True)
        through = tokenizer.chat(messages[: i + 1], add_generation_prompt=False)
        # Templates that rewrite earlier turns (dropping their thinking, say) have no prefix to mask by.
        if tokens[: len(before)] != before or tokens[: len(through)] != through:
            raise ValueError("the chat template rewrites earlier turns: set data.turns to 'last'")
        counts[len(before) : len(through)] = [True] * (len(through) - len(before))
    return Example(tokens, counts)
