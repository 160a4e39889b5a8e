"""The device on which models and classifiers compute."""

import torch

from encoder_lab.errors import InputError


def device_for(given: str | None) -> str:
    """`given`; by default the GPU if there is one. Raises InputError if this machine cannot compute on it."""
    if given is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=str(given)).item()
    except (RuntimeError, AssertionError) as error:  # AssertionError: this torch was built without CUDA
        said = str(error).splitlines()[0]
        raise InputError(f"device={given}: not on this machine ({said}); give cpu or cuda, or leave it out") from None
    return str(given)
