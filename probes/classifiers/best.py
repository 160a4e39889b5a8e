"""The best cells of a grid while its blocks are trained; weights are kept of one cell only."""

from collections.abc import Hashable, Iterable, Mapping
from threading import Lock
from typing import Generic, TypeVar

from probes.classifiers.examples import Fitted

Key = TypeVar("Key", bound=Hashable)


class Best(Generic[Key]):
    """Every cell at its best on dev so far. Only the best of all has weights."""

    def __init__(self, keys: Iterable[Key], digits: int | None = None) -> None:
        """`keys` in the order of the grid: the first wins a tie. `digits`: to which accuracies are rounded."""
        self.digits = digits
        self._cells: dict[Key, Fitted | None] = dict.fromkeys(keys)
        self._lock = Lock()

    def add(self, cells: Mapping[Key, Fitted]) -> None:
        """Take cells that are better than before. Several threads may call it."""
        with self._lock:
            for key, cell in cells.items():
                before = self._cells[key]
                if before is None or cell.dev_accuracy > before.dev_accuracy:
                    self._cells[key] = cell
            winner = self.winner
            for key, known in self.known.items():
                if known is not winner:
                    self._cells[key] = known._replace(parameters=[])

    @property
    def known(self) -> dict[Key, Fitted]:
        """The cells that were scored, in the order of the grid."""
        return {key: cell for key, cell in self._cells.items() if cell is not None}

    @property
    def winner(self) -> Fitted:
        """The best of all, the only one with weights."""
        return max(self.known.values(), key=self._accuracy)

    def _accuracy(self, cell: Fitted) -> float:
        return cell.dev_accuracy if self.digits is None else round(cell.dev_accuracy, self.digits)
