"""Use: what an objective loses when a property is erased from the vectors (Elazar et al. 2021; Belrose et al. 2023)."""

from probes.facts import Facts

FACTS = Facts(
    units={"loss": "nats/1000", "error": "points"},
    curves=("random", "control", "bleu", "accuracy", "perplexity", "mlp"),
    choice=False,
    ranked=False,
)
