"""The discourse tasks: DiscoEval (Chen et al. 2019)."""

from probes.facts import Facts

FACTS = Facts(
    axis="DiscoEval accuracy on test (%)",
    published={"": "chen2019_readme"},  # the authors' corrected table
    reference=("chen2019_table5",),
    groups={
        "SP": "SP",
        "BSO": "BSO",
        "DC": "DC",
        "SSP": "SSP",
        "PDTB-E": "PDTB-E",
        "PDTB-I": "PDTB-I",
        "RST": "RST-DT",
    },
    means={"Probing": "probing"},  # as in Table 2
    choice=False,
)
