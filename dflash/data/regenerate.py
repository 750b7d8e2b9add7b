"""Responses of the target itself to a file of prompts: the text a drafter has to predict.

Batches are appended whole and each draws from its own seed, so an interrupted run goes on where it
stopped and writes the same file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from dflash.data.examples import prompt_of
from dflash.data.records import Records
from dflash.data.tokenizer import Tokenizer
from dflash.decode import generate
from dflash.errors import UserError
from dflash.model import Drafter
from dflash.sampling import Sampling
from dflash.target import Target


@dataclass(frozen=True)
class Settings:
    """What the written text depends on; a file is only continued under the same settings."""

    target: str
    max_new_tokens: int = 256
    batch: int = 16
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0


@dataclass
class Outcome:
    """`done` prompts are in the file, `reused` of them from an earlier run."""

    done: int = 0
    reused: int = 0
    tokens: int = 0
    skipped: int = 0


def regenerate(
    target: Target, tokenizer: Tokenizer, prompts: Records, output: Path, settings: Settings, *,
    drafter: Drafter | None = None, stop_ids: Sequence[int] | None = None, skip_bad: bool = False,
    limit_batches: int | None = None, progress: Callable[[Outcome, int], None] = lambda outcome, total: None,
) -> Outcome:  # fmt: skip
    """Write one line per prompt: the chat with the target's answer, and both as token ids.

    Raises UserError where `output` was written under other settings.
    """
    sampling = Sampling(settings.temperature, settings.top_p, settings.top_k)
    stop_ids = tokenizer.stop_ids if stop_ids is None else stop_ids
    note = output.with_name(output.name + ".settings.json")
    wanted = asdict(settings)
    if note.exists() and output.exists():
        found = json.loads(note.read_text())
        changed = [k for k in wanted if found.get(k) != wanted[k]]
        if changed:
            raise UserError(
                f"{output}: was begun with another {', '.join(changed)}: use the same or another file"
            )
    elif output.exists():
        raise UserError(f"{output}: exists and was not written by dflash regenerate: choose another file")
    output.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps(wanted, indent=2) + "\n")
    outcome = Outcome(reused=_whole_batches(output, settings.batch, len(prompts)))
    outcome.done = outcome.reused
    with output.open("ab") as file:
        for written, start in enumerate(range(outcome.done, len(prompts), settings.batch)):
            if limit_batches is not None and written >= limit_batches:
                break
            asked = []
            for i in range(start, min(start + settings.batch, len(prompts))):
                try:
                    asked.append((i, *prompt_of(prompts[i], tokenizer)))
                except ValueError as error:
                    if not skip_bad:
                        raise UserError(f"prompt {i + 1}: {error} (--skip-bad skips it)") from None
                    outcome.skipped += 1
            g = torch.Generator(target.device).manual_seed(settings.seed * 1_000_003 + start)
            ids = [prompt for _, prompt, _ in asked]
            rows = generate(
                target, drafter, ids, settings.max_new_tokens, sampling, stop_ids, g
            ) if ids else []  # fmt: skip
            lines = dict.fromkeys(
                range(start, min(start + settings.batch, len(prompts))), b'{"skipped": true}\n'
            )
            for (i, prompt, messages), row in zip(asked, rows, strict=True):
                entry: dict[str, object] = {}
                if messages is not None:
                    entry["messages"] = [
                        *messages,
                        {"role": "assistant", "content": tokenizer.decode(row.tokens)},
                    ]
                entry |= {"prompt_ids": prompt, "response_ids": row.tokens, "finished": row.stopped}
                lines[i] = json.dumps(entry).encode() + b"\n"
                outcome.tokens += len(row.tokens)
            file.write(b"".join(lines.values()))
            file.flush()
            os.fsync(file.fileno())
            outcome.done += len(lines)
            progress(outcome, len(prompts))
    return outcome


def _whole_batches(output: Path, batch: int, total: int) -> int:
    """Lines already written, cut back to whole batches."""
    if not output.exists():
        return 0
    with output.open("r+b") as file:
        ends, at = [0], 0
        for line in file:
            at += len(line)
            if line.endswith(b"\n"):
                ends.append(at)
        lines = len(ends) - 1
        keep = lines if lines >= total else lines - lines % batch
        file.truncate(ends[keep])
    return keep
