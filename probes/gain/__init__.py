"""Gain: how much shorter a task's code is than that of a bag of the same word vectors (Pimentel et al. 2020)."""

from probes.bits import CODES
from probes.facts import Facts

FACTS = Facts(
    units={reader: f"% of the uniform code saved ({code})" for reader, code in CODES.items()},
    choice=False,
)
