"""What each group's classifier sees of the vectors, and how it is trained.

Features are functions of an item's columns, k tensors (n, D), so that a classifier may read them in portions of items.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from encoder_lab.errors import InputError
from probes.classifiers.grid import Grid
from probes.vectors import FeatureMaker, sentence_vector

Columns = Sequence[Tensor]  # k tensors (n, D): the vectors of each text of n items


def first_and_differences(columns: Columns) -> Tensor:
    """SP (n, 5D): x1, x1 - x2, ..., x1 - x5 (Chen et al. 2019, section 3.2)."""
    first, *rest = columns
    return torch.cat([first, *(first - column for column in rest)], 1)


def pair_and_difference(columns: Columns) -> Tensor:
    """BSO (n, 3D): x1, x2, x1 - x2 (section 3.3)."""
    first, second = columns
    return torch.cat([first, second, first - second], 1)


def concatenation(columns: Columns) -> Tensor:
    """DC (n, 6D): x1 to x6 (section 3.4)."""
    return torch.cat([*columns], 1)


def relation_features(columns: Columns) -> Tensor:
    """PDTB and RST (n, 4D): u, v, u * v, |u - v| (section 3.1)."""
    u, v = columns
    return torch.cat([u, v, u * v, (u - v).abs()], 1)


class Reading(NamedTuple):
    """What a group's classifier sees, and the published toolkit's settings of it; names as in Grid.

    The toolkit writes DC's settings into the dictionary that later tasks read; here each group has its own.
    """

    features: FeatureMaker
    hidden: int = 0  # sigmoid units; 0 is logistic regression
    l2: tuple[float, ...] = Grid.l2  # the candidates
    max_passes: int = Grid.max_passes
    block: int = Grid.block  # passes between evaluations on dev
    tenacity: int = Grid.tenacity

    def grid(self, requested: Grid) -> Grid:
        """The classifiers that compete: the toolkit's under `senteval`, else those given, as far as they apply.

        Raises InputError where the user set what the toolkit fixes.
        """
        if requested.protocol == "modern":
            return requested if self.hidden else requested.logistic()
        for name in FIXED_SETTINGS:
            if getattr(requested, name) != getattr(Grid, name):
                problem = "protocol=senteval has published settings for each group of suite=discoeval"
                raise InputError(f"{problem}; leave probes.classifier.{name}= out")
        published = {name: getattr(self, name) for name in FIXED_SETTINGS[2:]}
        return replace(requested, widths=(self.hidden,), dropouts=(0.0,), **published)


FIXED_SETTINGS = ("widths", "dropouts", "l2", "max_passes", "block", "tenacity")
NO_L2 = (1e-9,)  # what the toolkit takes where nothing is regularised
RELATION = Reading(relation_features, l2=NO_L2, max_passes=15, block=1)
READINGS = {
    "SP": Reading(first_and_differences),
    "BSO": Reading(pair_and_difference),
    "DC": Reading(concatenation, hidden=2000, l2=NO_L2, block=15, tenacity=8),
    "SSP": Reading(sentence_vector, l2=NO_L2),  # section 3.5
    "PDTB-E": RELATION,
    "PDTB-I": RELATION,
    "RST-DT": RELATION,
}


ABLATIONS = {  # analyses of the paper: a group of which the tasks are read a second time, and how
    "hidden_layer": ("DC", READINGS["DC"]._replace(hidden=0)),  # Table 4
    "context": ("SP", READINGS["SP"]._replace(features=sentence_vector)),  # Table 6
}
