"""The device on which models and classifiers compute."""

import torch
from torch import Tensor

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
