"""Hard: accuracy on the test items that their words alone would get wrong."""

from probes.facts import Facts

FACTS = Facts(axis="accuracy on hard test items (%)", choice=False)
