"""The device on which models and classifiers compute, and the mode in which networks do."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from encoder_lab.errors import InputError, first_line


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor on the device; a copy to a GPU is asynchronous."""
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def device_for(device: str | None) -> str:
    """`device`; by default the GPU if there is one. Raises InputError if this machine cannot compute on it."""
    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=str(device)).item()
    except (RuntimeError, AssertionError) as error:  # AssertionError: this torch was built without CUDA
        reason = f"not on this machine ({first_line(error)})"
        raise InputError(f"device={device}: {reason}; give cpu or cuda, or leave it out") from None
    return str(device)


@contextmanager
def evaluation_mode(network: nn.Module) -> Iterator[None]:
    """Without dropout; afterwards each module has the mode that it had."""
    modes = [(module, module.training) for module in network.modules()]
    network.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
