"""Text to tokens: bytes for the tiny target, Hugging Face tokenizers for real ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from dflash.errors import UserError
from dflash.target.place import require_place

Messages = Sequence[dict[str, str]]


class Tokenizer(Protocol):
    """`stop_ids` end a response."""

    stop_ids: list[int]

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: Sequence[int]) -> str: ...

    def chat(self, messages: Messages, add_generation_prompt: bool) -> list[int]:
        """Tokens of the chat template; raises UserError if there is none."""
        ...


class ByteTokenizer:
    """UTF-8 bytes as ids 0..255; 256 ends a text, 257 is free (the drafter's mask)."""

    end, mask = 256, 257
    vocab_size = 258

    def __init__(self) -> None:
        self.stop_ids = [self.end]

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(i for i in ids if i < 256).decode(errors="replace")

    def chat(self, messages: Messages, add_generation_prompt: bool) -> list[int]:
        raise UserError("the byte tokenizer has no chat template: give texts or prompts, not messages")


class HuggingFaceTokenizer:
    """Wraps a transformers tokenizer."""

    def __init__(self, inner: Any, name: str, extra_stop_ids: Sequence[int] = ()) -> None:
        self.inner, self.name = inner, name
        ends = [inner.eos_token_id, *extra_stop_ids]
        self.stop_ids = sorted({i for i in ends if i is not None})

    @classmethod
    def load(cls, path: str | Path, gguf_file: str | None = None) -> HuggingFaceTokenizer:
        try:
            from transformers import AutoTokenizer

            require_place(path, "tokenizer")
            extra = {"gguf_file": gguf_file} if gguf_file else {}
            inner = AutoTokenizer.from_pretrained(str(path), **extra)
        except UserError:
            raise
        except ImportError:
            raise UserError("tokenizers need transformers: install the 'dflash' extra") from None
        except Exception as error:  # the tokenizers library raises plain ones
            raise UserError(
                f"tokenizer {path}: can't be loaded: {' '.join(str(error).split())[:200]}"
            ) from None
        return cls(inner, str(path))

    def encode(self, text: str) -> list[int]:
        return list(self.inner(text, add_special_tokens=False)["input_ids"])

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.inner.decode(list(ids), skip_special_tokens=True))

    def chat(self, messages: Messages, add_generation_prompt: bool) -> list[int]:
        if not self.inner.chat_template:
            raise UserError(
                f"tokenizer {self.name}: has no chat template; give texts, or prompt_ids and response_ids"
            )
        text = self.inner.apply_chat_template(
            list(messages), tokenize=False, add_generation_prompt=add_generation_prompt
        )
        return self.encode(text)
