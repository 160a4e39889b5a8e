import pytest
import torch

from encoder_lab.compute.devices import device_for
from encoder_lab.errors import InputError


def test_the_default_is_a_device_of_this_machine() -> None:
    assert device_for(device_for(None)) == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "", "meta"])
def test_a_missing_device_is_refused(device) -> None:
    with pytest.raises(InputError, match=f"device={device}: .* give cpu or cuda"):
        device_for(device)
