"""The downstream tasks: what a frozen encoder is good for (SentEval; Conneau and Kiela 2018)."""

from probes.facts import Facts

FACTS = Facts(axis="downstream score on test (%, r × 100)", published={"": "conneau2018_table5"}, choice=False)
