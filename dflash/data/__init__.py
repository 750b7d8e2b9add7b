"""From JSONL files to batches of token rows."""

from dflash.data.batches import Batch, Batches
from dflash.data.examples import Example, encode
from dflash.data.records import Records
from dflash.data.tokenizer import ByteTokenizer, HuggingFaceTokenizer, Tokenizer

__all__ = [
    "Batch",
    "Batches",
    "ByteTokenizer",
    "Example",
    "HuggingFaceTokenizer",
    "Records",
    "Tokenizer",
    "encode",
]
