"""Any Hugging Face causal language model as a target: layers found, tapped by hooks, cache cropped."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from dflash.errors import UserError
from dflash.masks import causal_in_document, dense
from dflash.target.base import Cache, Target, TargetOutput, positions_in_documents, twin
from dflash.target.place import require_place

DTYPES = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


class HuggingFaceCache(Cache):
    """Wraps a `DynamicCache` whose layers all keep every token, also those of a sliding window."""

    def __init__(self, rows: int, device: torch.device) -> None:
        from transformers import DynamicCache

        super().__init__(rows, device)
        self.inner = DynamicCache()

    def crop(self, count: int) -> None:
        self.inner.crop(-count)  # a negative number counts slots to drop, in every release


class HuggingFaceEnds:
    """Embedding and head of a model; `cap` is its soft cap of logits."""

    def __init__(self, table: Tensor, head: nn.Module, dtype: torch.dtype, cap: float | None) -> None:
        self.table, self.out, self.dtype, self.cap = table, head, dtype, cap

    def embed(self, ids: Tensor) -> Tensor:
        # The bare table, as the community's loaders do; families that scale inside the module scale later.
        return nn.functional.embedding(ids, self.table)

    def head(self, states: Tensor) -> Tensor:
        logits = self.out(states.to(self.dtype))
        return torch.tanh(logits / self.cap) * self.cap if self.cap else logits


def read_model(path: str | Path, dtype: str, gguf_file: str | None = None) -> Any:
    """A causal language model in the CPU's memory; raises UserError where it can't be read."""
    try:
        from transformers import AutoModelForCausalLM
    except ImportError:
        raise UserError("loading a target needs transformers: install the 'dflash' extra") from None
    if dtype != "auto" and dtype not in DTYPES:
        raise UserError(f"target dtype {dtype!r} is unknown (use auto, {', '.join(DTYPES)})")
    require_place(path, "target")
    extra = {"gguf_file": gguf_file} if gguf_file else {}
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(str(path), dtype=DTYPES.get(dtype, "auto"), **extra)
    except Exception as error:  # each reader of a torn or foreign file fails in a way of its own
        line = " ".join(str(error).split())[:300]
        raise UserError(f"target {path}: can't be loaded as a causal language model: {line}") from None
    return model


def body_of(model: Any) -> Any:
    """All of a model but its head."""
    return model.get_decoder() if hasattr(model, "get_decoder") else model.base_model


def layers_of(body: nn.Module, count: int, name: str) -> nn.ModuleList:
    """The decoder layers; raises UserError where there is no list of `count`."""
    found = [m for m in body.modules() if isinstance(m, nn.ModuleList) and len(m) == count]
    if not found:
        raise UserError(f"{name}: {type(body).__name__} has no list of {count} decoder layers")
    return found[0]


class HuggingFaceTarget(Target):
    """Raises UserError for models whose layers, cache or head this can't drive faithfully."""

    def __init__(self, model: Any, name: str = "model", sharded: bool = False) -> None:
        self.model = model.requires_grad_(False).eval()
        self.name, self.sharded = name, sharded
        self.text_config = model.config.get_text_config()
        self.hidden_size = int(self.text_config.hidden_size)
        self.num_layers = int(self.text_config.num_hidden_layers)
        self.body = body_of(model)
        # transformers 5.24 renamed the argument and will drop the old name.
        accepted = inspect.signature(self.body.forward).parameters
        self.cache_argument = "cache" if "cache" in accepted else "past_key_values"
        self.layers = layers_of(self.body, self.num_layers, name)
        head = model.get_output_embeddings()
        if head is None:
            raise UserError(f"{name}: has no language-model head; give a causal language model")
        self.vocab_size = int(head.weight.shape[0])
        self.dtype, self.device = head.weight.dtype, head.weight.device
        cap = getattr(self.text_config, "final_logit_softcapping", None)
        self._ends = HuggingFaceEnds(model.get_input_embeddings().weight, head, self.dtype, cap)
        kinds = set(getattr(self.text_config, "layer_types", None) or ["full_attention"])
        if kinds - {"full_attention", "sliding_attention"}:
            raise UserError(
                f"{name}: layers of type {', '.join(sorted(kinds))} keep a state that can't be rolled back"
            )
        window = getattr(self.text_config, "sliding_window", None) or 0
        uses = getattr(self.text_config, "use_sliding_window", True)
        somewhere = kinds != {"full_attention"} or not hasattr(self.text_config, "layer_types")
        self.window = int(window) if window and uses and somewhere else None
        self._check_head()

    @classmethod
    def load(
        cls, path: str | Path, dtype: str, device: torch.device, gguf_file: str | None = None
    ) -> HuggingFaceTarget:
        """`path` a checkpoint directory or hub name; `gguf_file` the name of a GGUF file in it."""
        return cls(read_model(path, dtype, gguf_file).to(device), str(path))

    @torch.no_grad()
    def _check_head(self) -> None:
        """Some families scale or cap logits after the head; the cap is known, anything else is refused."""
        ids = torch.arange(4, device=self.device)[None] % self.vocab_size
        ours, theirs = self.head(self.read(ids, ()).final), self.model(ids, use_cache=False).logits
        if not torch.allclose(ours.float(), theirs.float(), atol=1e-2, rtol=1e-2):
            raise UserError(
                f"{self.name}: {type(self.model).__name__} changes its logits after the head; not supported"
            )

    @contextlib.contextmanager
    def _tap(self, layer_ids: Sequence[int]) -> Iterator[dict[int, Tensor]]:
        """Outputs of the tapped layers while the model runs."""
        if any(i < 0 or i > self.num_layers - 2 for i in layer_ids):
            raise ValueError(f"layer ids {list(layer_ids)} must lie in 0..{self.num_layers - 2}")
        taps: dict[int, Tensor] = {}

        def hook(i: int) -> Any:
            def keep(module: nn.Module, args: Any, output: Any) -> None:
                taps[i] = output[0] if isinstance(output, tuple) else output

            return keep

        handles = [self.layers[i].register_forward_hook(hook(i)) for i in layer_ids]
        try:
            yield taps
        finally:
            for handle in handles:
                handle.remove()

    def embed(self, ids: Tensor) -> Tensor:
        return self._ends.embed(ids)

    def head(self, states: Tensor) -> Tensor:
        return self._ends.head(states)

    def replica(self, device: torch.device) -> HuggingFaceTarget:
        return HuggingFaceTarget(twin(self.model, device), self.name)

    def ends(self, device: torch.device) -> HuggingFaceEnds:
        own = self._ends
        return HuggingFaceEnds(own.table.to(device), twin(own.out, device), own.dtype, own.cap)

    def _run(self, layer_ids: Sequence[int], ids: Tensor, **arguments: Any) -> TargetOutput:
        with torch.no_grad(), self._tap(layer_ids) as taps:
            final = self.body(input_ids=ids, **arguments).last_hidden_state
        features = torch.cat([taps[i] for i in layer_ids], dim=-1) if layer_ids else final[..., :0]
        return TargetOutput(final, features)

    def read(self, ids: Tensor, layer_ids: Sequence[int], documents: Tensor | None = None) -> TargetOutput:
        if documents is None or bool((documents <= 0).all()):
            return self._run(layer_ids, ids, use_cache=False)  # padding on the right is never seen
        if self.window is not None and self.window < ids.shape[1]:
            raise UserError(
                f"{self.name}: can't pack rows over a sliding window of {self.window}: set data.pack = false"
            )
        seen = dense(causal_in_document(documents), ids.shape[0], ids.shape[1], ids.shape[1], ids.device)
        lowest = torch.finfo(self.dtype).min
        bias = torch.zeros(seen.shape, dtype=self.dtype, device=ids.device).masked_fill_(~seen, lowest)
        positions = positions_in_documents(documents)
        return self._run(layer_ids, ids, attention_mask=bias, position_ids=positions, use_cache=False)

    def start(self, rows: int) -> HuggingFaceCache:
        if rows > 1 and self.window is not None:
            raise UserError(
                f"{self.name}: a sliding-window target decodes one prompt at a time: set batch to 1"
            )
        return HuggingFaceCache(rows, self.device)

    def advance(self, cache: Cache, ids: Tensor, real: Tensor, layer_ids: Sequence[int]) -> TargetOutput:
        assert isinstance(cache, HuggingFaceCache)
        positions = cache.lengths[:, None] + torch.arange(ids.shape[1], device=ids.device)
        mask = torch.cat((cache.valid, real), dim=1).long()
        arguments = {"attention_mask": mask, "position_ids": positions, self.cache_argument: cache.inner}
        output = self._run(layer_ids, ids, use_cache=True, **arguments)
        cache.add(real)
        return output
