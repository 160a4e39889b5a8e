"""The probing tasks (Conneau et al. 2018)."""

from probes.facts import Facts

FACTS = Facts(
    axis="probing accuracy on test (%)",
    published={"mlp": "conneau2018_table2", "logreg": "conneau2018_table4"},
    controls=True,
    one_reader=frozenset({"WC"}),  # appendix: too many classes for the MLP
)
RATED_ODD = "rated modified"  # a second measure of SOMO, in details.csv
