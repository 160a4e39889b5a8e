"""Gain: how much shorter a task's code is than that of a bag of the same word vectors (Pimentel et al. 2020)."""

from probes.facts import Facts

SAVED = "code saved over a bag of vectors (% of the uniform code"
UNITS = {"logreg": f"{SAVED})", "mlp": f"{SAVED}, MLP)", "variational": f"{SAVED}, variational)"}
FACTS = Facts(units=UNITS, choice=False)
