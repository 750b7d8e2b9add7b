from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from data import random_batches, whole, write_texts

from dflash.data import Batches, ByteTokenizer, Example, Records, encode
from dflash.errors import UserError


def test_every_token_of_an_epoch_comes_once_and_documents_stay_whole(tmp_path: Path) -> None:
    texts = [[i] * (3 + i % 7) for i in range(40)]
    batches = Batches(write_texts(tmp_path / "d", texts), whole, rows=2, length=16)
    seen: dict[int, int] = {}
    rows = 0
    while batches.epoch == 0:
        batch = next(batches)
        for tokens, documents in zip(batch.tokens.tolist(), batch.documents.tolist(), strict=True):
            rows += 1
            for token, document in zip(tokens, documents, strict=True):
                if document >= 0:
                    seen[token] = seen.get(token, 0) + 1
            assert (
                len({(t, d) for t, d in zip(tokens, documents, strict=True) if d >= 0}) == max(documents) + 1
            )
    rest = {t for p in batches.pending for t in p.tokens}
    for i in range(40):
        assert seen.get(i, 0) >= 3 + i % 7 or i in rest
    assert rows < 40, "packing put several texts in a row"


def test_epochs_differ_and_state_restores_exactly(tmp_path: Path) -> None:
    one = random_batches(tmp_path / "d")
    for _ in range(7):
        next(one)
    state = json.loads(json.dumps(one.state()))
    ahead = [next(one).tokens.tolist() for _ in range(12)]
    two = random_batches(tmp_path / "d")
    first = next(two).tokens.tolist()
    two.restore(state)
    assert [next(two).tokens.tolist() for _ in range(12)] == ahead
    assert first not in ahead


def test_texts_are_split_and_chats_are_cut() -> None:
    text = Example(list(range(10)), [True] * 10)
    assert [p.tokens for p in text.pieces(4, split=True)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [p.tokens for p in text.pieces(4, split=False)] == [[0, 1, 2, 3]]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "the line is empty"),
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"other": 1}', "no messages, prompt or text"),
        ('{"messages": []}', "messages must be a list that is not empty"),
        ('{"messages": [{"role": "user"}]}', "every message needs a role and a content"),
        ('{"prompt_ids": [1], "response_ids": ["x"]}', "response_ids must be a list of integers"),
    ],
)
def test_bad_lines_are_named_or_counted(line: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"text": "good"}\n' + line + '\n{"text": "also"}\n')
    with pytest.raises(UserError, match=f"d.jsonl:2: .*{complaint}"):
        Records([path])
    records = Records([path], skip_bad=True)
    assert len(records) == 2
    assert records.skipped == 1
    assert records[1] == {"text": "also"}


def test_nothing_usable_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be read"):
        Records([tmp_path / "none.jsonl"])
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(UserError, match="no records found"):
        Records([tmp_path / "empty.jsonl"])
    batches = Batches(write_texts(tmp_path / "d", [[1, 2, 3]] * 5), whole, rows=1, length=8, block_size=6)
    with pytest.raises(UserError, match="no text is as long as a block of 6"):
        list(itertools.islice(batches, 10))


class Template:
    """A tokenizer with a chat template of one character per role and turn end."""

    def __init__(self, rewrites: bool = False) -> None:
        self.stop_ids = [46]
        self.rewrites = rewrites

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int]) -> str:
        return bytes(ids).decode()

    def chat(self, messages: list[dict], add_generation_prompt: bool) -> list[int]:
        last = len(messages) - 1
        hide = self.rewrites
        turns = [
            f"{m['role'][0]}:{'' if hide and i < last else m['content']}." for i, m in enumerate(messages)
        ]
        return self.encode("".join(turns) + ("a:" if add_generation_prompt else ""))


CHAT = {
    "messages": [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "z"},
        {"role": "assistant", "content": "no"},
    ]
}


def test_only_assistant_turns_count() -> None:
    for turns, expected in (("all", "yes.no."), ("last", "no.")):
        example = encode(CHAT, Template(), turns)
        counted = bytes(t for t, c in zip(example.tokens, example.counts, strict=True) if c)
        assert counted.decode() == expected
    with pytest.raises(ValueError, match="rewrites earlier turns"):
        encode(CHAT, Template(rewrites=True), "all")


def test_tokenizer_without_a_template() -> None:
    with pytest.raises(UserError, match="no chat template"):
        encode(CHAT, ByteTokenizer())
    with pytest.raises(ValueError, match="run dflash regenerate first"):
        encode({"prompt": "x"}, ByteTokenizer())
