"""Tensors from device to device."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from dflash.target import TargetOutput


def to(device: torch.device) -> Callable[[Tensor], Tensor]:
    """A function that brings a tensor to `device`: from the CPU to a GPU through pinned memory, without waiting.

    A copy to the CPU waits; one between GPUs is ordered after what made the tensor by the devices' streams.
    """

    def move(tensor: Tensor) -> Tensor:
        if tensor.device == device:
            return tensor
        if device.type == "cuda" and tensor.device.type == "cpu":
            tensor = tensor.pin_memory()
        return tensor.to(device, non_blocking=device.type == "cuda")

    return move


def output_to(device: torch.device, output: TargetOutput) -> TargetOutput:
    move = to(device)
    return TargetOutput(move(output.final), move(output.features))


def use(device: torch.device) -> None:
    """Make `device` the calling thread's own, for what is made without naming one."""
    if device.type == "cuda":
        torch.cuda.set_device(device)
