"""Selectivity: the accuracy of a task minus that of its control task (Hewitt and Liang 2019)."""

from probes.facts import Facts

FACTS = Facts(units={"mlp": "points", "logreg": "points"}, curves=("control",), choice=False)
