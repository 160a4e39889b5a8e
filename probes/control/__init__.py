"""Control tasks, with random labels: a high accuracy says that a classifier memorises (Hewitt and Liang 2019)."""

from probes.facts import Facts

FACTS = Facts(axis="accuracy on control tasks (%)", ranked=False)
