"""Bits: how long the labels of a task are, given the vectors (Voita and Titov 2020)."""

from probes.facts import Facts

CODES = {"logreg": "online, linear", "mlp": "online, MLP", "variational": "variational"}
FACTS = Facts(
    units={reader: f"% of the uniform code ({code})" for reader, code in CODES.items()},
    curves=("compression",),
    choice=False,
    ranked=False,
    lowest=dict.fromkeys(CODES, 0.0),
    sign=-1,  # a shorter code is a better one
)
