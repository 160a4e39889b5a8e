"""Selectivity: the accuracy of a task minus that of its control task (Hewitt and Liang 2019)."""

from probes.facts import Facts

FACTS = Facts(axis="selectivity (points)", curves=("control",), choice=False)
