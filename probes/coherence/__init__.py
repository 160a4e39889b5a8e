"""Coherence suites: minimal pairs of texts, scored by the surprisal of a language model (Beyer et al. 2021)."""

from probes.facts import Facts

FACTS = Facts(
    axis="items in which the incoherent text is the more surprising one (%)",
    published={"": "beyer2021_tables1to5"},
    choice=False,
)
