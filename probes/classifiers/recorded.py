"""Steps of a GPU as CUDA graphs: to start their kernels one by one takes several times as long as the kernels do."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

StepGraph = tuple[torch.cuda.CUDAGraph, list[Tensor]]  # a recorded step, and the tensors that it reads
WARM_UP_CALLS = 3  # calls with the same shapes before a step is recorded: its libraries then have what they need


class StepGraphs:
    """Runs `step(*tensors, **constants)`, which changes tensors in place; recorded once for each shape.

    What the step changes must stay where it is in memory. `generators`: those from which it draws; a recorded step
    draws what a plain one would. The step is no part of this object: it would keep its owner in memory.
    """

    def __init__(self, generators: Iterable[torch.Generator] = ()) -> None:
        self.generators = list(generators)
        self.calls, self.graphs = Counter[Any](), dict[Any, StepGraph]()

    def __call__(self, step: Callable[..., None], *tensors: Tensor, **constants: Any) -> None:
        key = (*(tensor.shape for tensor in tensors), *constants.items())
        self.calls[key] += 1
        if self.calls[key] <= WARM_UP_CALLS:
            step(*tensors, **constants)
            return
        if key not in self.graphs:
            self.graphs[key] = self._record(step, tensors, constants)
        graph, inputs = self.graphs[key]
        for static_input, tensor in zip(inputs, tensors, strict=True):
            static_input.copy_(tensor)
        graph.replay()

    def _record(self, step: Callable[..., None], tensors: Iterable[Tensor], constants: dict[str, Any]) -> StepGraph:
        inputs, graph = [torch.empty_like(tensor) for tensor in tensors], torch.cuda.CUDAGraph()
        for generator in self.generators:
            graph.register_generator_state(generator)
        current_stream, side_stream = torch.cuda.current_stream(), torch.cuda.Stream()
        side_stream.wait_stream(current_stream)
        with torch.cuda.stream(side_stream):
            graph.capture_begin(capture_error_mode="thread_local")  # loaders pin memory in threads of their own
            try:
                step(*inputs, **constants)
            finally:  # else every later call of CUDA fails, and hides the error of this one
                graph.capture_end()
        current_stream.wait_stream(side_stream)
        return graph, inputs
