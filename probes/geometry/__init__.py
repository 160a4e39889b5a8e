"""The geometry suite: the shape of a model's sentence vectors, without labels."""

from probes.facts import Facts

FACTS = Facts(
    axis="geometry of the vectors (%)",
    units={"dimensions": "dimensions"},
    choice=False,
    ranked=False,
    lowest={"dimensions": 0.0, "IsoScore": 0.0},
)
