"""A device that is not the CPU, for machines that have no GPU: it computes on the CPU and says that it does not.

Its tensors refuse to be mixed with the CPU's and to become arrays, as a GPU's do, so that what forgets to move one is
found anywhere. Not found: a generator of the wrong device, and single numbers on it. Speed, memory and the rounding of
its products are the CPU's. It stands on private parts of the pinned torch, and importing it changes torch for good:
tests run in a process of their own.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import pytorch_lightning as pl
import torch
from pytorch_lightning.accelerators import Accelerator
from pytorch_lightning.strategies import SingleDeviceStrategy
from torch import Tensor
from torch.utils import backend_registration
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from tests.silent import QUIET

OTHER = "other"
aten = torch.ops.aten
WAITS = {aten._local_scalar_dense, aten.nonzero, aten.masked_select, aten.is_nonzero, aten.equal, aten._unique2}
MOVES = (aten._to_copy.default, aten.copy_.default)
TAKES_PLACES = (aten.index.Tensor, aten.index_put_.default, aten.index_put.default, aten._index_put_impl_.default)
SIZES_ON_CPU = (aten._pack_padded_sequence.default, aten._pad_packed_sequence.default)


class Backend(backend_registration._DummyBackendModule):
    """The interface that torch expects of a device."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16]

    def get_rng_state(self, *_: Any) -> Tensor:
        return torch.zeros(1, dtype=torch.uint8)

    def set_rng_state(self, *_: Any) -> None:
        """Draws the same numbers as the CPU."""


backend_registration._setup_privateuseone_for_python_backend(OTHER, Backend())


class OtherTensor(Tensor):
    """A CPU tensor that reports another device."""

    inner: Tensor
    waits: ClassVar[list[str]] = []  # each operation for which a GPU must have done all that was asked before

    @staticmethod
    def __new__(cls, inner: Tensor) -> "OtherTensor":
        layout = {"strides": inner.stride(), "storage_offset": inner.storage_offset()}
        made = Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype, device=f"{OTHER}:0", **layout)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function: Any, _: Any, arguments: Any = (), named: Any = None) -> Any:
        return run(function, arguments, named or {})

    def __getitem__(self, key: Any) -> Tensor:
        return super().__getitem__(places(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(places(key), value)

    def tolist(self) -> Any:
        self.waits.append("tolist")
        return self.inner.tolist()

    def numpy(self, *_: Any, **__: Any) -> Any:
        raise TypeError("can't convert a tensor of another device to numpy")

    __array__ = numpy


def places(key: Any) -> Any:
    """A list of indices as a tensor; torch creates it where our modes do not see it."""
    return torch.tensor(key, dtype=torch.long) if isinstance(key, list) else key


def run(function: Any, arguments: Any, named: dict[str, Any]) -> Any:
    """One operation of torch, on the CPU; its results are elsewhere if its tensors or `device=` are."""
    others = {id(leaf.inner): leaf for leaf in tree_leaves((arguments, named)) if isinstance(leaf, OtherTensor)}
    elsewhere = bool(others)
    if elsewhere and waits(function, arguments, named):
        OtherTensor.waits.append(str(function))
    if named.get("device") is not None:
        elsewhere = torch.device(named["device"]).type == OTHER
        named = {**named, "device": "cpu"}
    elif others:
        refuse_mixed(function, arguments)
    inner, by_name = tree_map(lambda leaf: leaf.inner if isinstance(leaf, OtherTensor) else leaf, (arguments, named))
    results = IN_WORDS.get(function, function)(*inner, **by_name)
    if elsewhere and function in SIZES_ON_CPU:
        return OtherTensor(results[0]), results[1]
    if not elsewhere:
        return results

    def moved(result: Any) -> Any:
        if not isinstance(result, Tensor):
            return result
        return others[id(result)] if id(result) in others else OtherTensor(result)

    return tree_map(moved, results)


def waits(function: Any, arguments: Any, named: dict[str, Any]) -> bool:
    """Whether the result, or its size, must be known on the CPU."""
    masks = arguments[1] if function in TAKES_PLACES else ()
    to_cpu = function == MOVES[0] and named.get("device") is not None and torch.device(named["device"]).type == "cpu"
    return to_cpu or function.overloadpacket in WAITS or any(m is not None and m.dtype == torch.bool for m in masks)


def refuse_mixed(function: Any, arguments: tuple) -> None:
    """Raises RuntimeError where a GPU would: tensors of the CPU are taken if they are single numbers, or places."""
    if function in (*MOVES, *SIZES_ON_CPU):
        return
    data = arguments[:1] + arguments[2:] if function in TAKES_PLACES else arguments
    tensors = [leaf for leaf in tree_leaves(data) if isinstance(leaf, Tensor)]
    if any(tensor.dim() and not isinstance(tensor, OtherTensor) for tensor in tensors):
        where = [f"{tuple(tensor.shape)} on {tensor.device}" for tensor in tensors]
        raise RuntimeError(f"{function}: tensors on two devices: {', '.join(where)}")


def lstm_cell(x: Tensor, h: Tensor, cell: Tensor, bias_x: Tensor | None = None, bias_h: Tensor | None = None) -> Any:
    """A step of an LSTM from the products `x (B, 4H)`, `h (B, 4H)`; the CPU has no kernel of this name."""
    gates = x + h if bias_x is None or bias_h is None else x + h + bias_x + bias_h
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    new = f * cell + i * g
    return o * new.tanh(), new, torch.cat([i, f, g, o], 1)


def lstm_cell_backward(h: Tensor | None, c: Tensor | None, old: Tensor, new: Tensor, gates: Tensor, bias: bool) -> Any:
    i, f, g, o = gates.chunk(4, 1)
    h, c = (torch.zeros_like(new) if part is None else part for part in (h, c))
    c = c + h * o * (1 - new.tanh() ** 2)
    of_gates = c * g * i * (1 - i), c * old * f * (1 - f), c * i * (1 - g * g), h * new.tanh() * o * (1 - o)
    gradient = torch.cat(of_gates, 1)
    return gradient, c * f, gradient.sum(0) if bias else None


def gru_cell(x: Tensor, h: Tensor, old: Tensor, bias_x: Tensor | None = None, bias_h: Tensor | None = None) -> Any:
    """A step of a GRU from the products `x (B, 3H)`, `h (B, 3H)`."""
    x, h = (x, h) if bias_x is None or bias_h is None else (x + bias_x, h + bias_h)
    r, z = ((a + b).sigmoid() for a, b in zip(x.chunk(3, 1)[:2], h.chunk(3, 1)[:2], strict=True))
    n = (x.chunk(3, 1)[2] + r * h.chunk(3, 1)[2]).tanh()
    return n + z * (old - n), torch.cat([r, z, n, old, h.chunk(3, 1)[2]], 1)


def gru_cell_backward(gradient: Tensor, saved: Tensor, bias: bool) -> Any:
    r, z, n, old, h = saved.chunk(5, 1)
    to_n, to_z = gradient * (1 - z) * (1 - n * n), gradient * (old - n) * z * (1 - z)
    to_r = to_n * h * r * (1 - r)
    to_x, to_h = torch.cat([to_r, to_z, to_n], 1), torch.cat([to_r, to_z, to_n * r], 1)
    return to_x, to_h, gradient * z, to_x.sum(0) if bias else None, to_h.sum(0) if bias else None


IN_WORDS: dict[Any, Callable] = {
    aten._thnn_fused_lstm_cell.default: lstm_cell,
    aten._thnn_fused_lstm_cell_backward_impl.default: lstm_cell_backward,
    aten._thnn_fused_gru_cell.default: gru_cell,
    aten._thnn_fused_gru_cell_backward.default: gru_cell_backward,
}


class Everywhere(TorchDispatchMode):
    """Intercepts functions that create tensors."""

    def __torch_dispatch__(self, function: Any, _: Any, arguments: Any = (), named: Any = None) -> Any:
        return run(function, arguments, named or {})


class Generator:
    """The CPU's generator, of any device."""

    def __new__(cls, *_: Any) -> Any:
        return torch._C.Generator()


@contextmanager
def other_device() -> Iterator[None]:
    """Inside this context `device="other"` can be used."""
    tensor, as_tensor, generator = torch.tensor, torch.as_tensor, torch.Generator

    def made(make: Callable) -> Callable:  # torch creates and moves it in one step, not seen by our modes
        return lambda *arguments, device=None, **named: make(*arguments, **named).to(device or "cpu")

    def converted(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
        result = data if isinstance(data, Tensor) else as_tensor(data)
        return result.to(device or result.device, dtype or result.dtype)

    torch.tensor, torch.as_tensor, torch.Generator = made(tensor), converted, Generator  # type: ignore[assignment,misc]
    try:
        with Everywhere():
            yield
    finally:
        torch.tensor, torch.as_tensor, torch.Generator = tensor, as_tensor, generator  # type: ignore[misc]


class NeverWaits(pl.Callback):
    """Refuses a training step, from its batch to its weights, in which a GPU would wait; the first of a trainer's."""

    def on_train_batch_start(self, *_: Any) -> None:
        OtherTensor.waits.clear()

    def on_train_batch_end(self, *_: Any) -> None:
        assert OtherTensor.waits == []


class OtherAccelerator(Accelerator):
    """The device as Lightning sees it."""

    def setup_device(self, device: torch.device) -> None: ...

    def teardown(self) -> None: ...

    @staticmethod
    def parse_devices(devices: Any) -> Any:
        return devices

    @staticmethod
    def get_parallel_devices(_: Any) -> list[torch.device]:
        return [torch.device(OTHER)]

    @staticmethod
    def auto_device_count() -> int:
        return 1

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def name() -> str:
        return OTHER

    def get_device_stats(self, device: Any) -> dict[str, Any]:
        return {}


def other_trainer(callbacks: Sequence[pl.Callback] = (), **settings: Any) -> pl.Trainer:
    """A trainer there that writes nothing; its steps may not wait."""
    there = SingleDeviceStrategy(device=torch.device(OTHER), accelerator=OtherAccelerator())
    settings["callbacks"] = [NeverWaits(), *callbacks]
    return pl.Trainer(**QUIET, strategy=there, use_distributed_sampler=False, num_sanity_val_steps=0, **settings)
