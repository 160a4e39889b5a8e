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
    means={  # as in Table 2 (section 5.1)
        "USS": ("downstream", ("STS12", "STS13", "STS14", "STS15", "STS16")),
        "SSS": ("downstream", ("STSB", "SICK-E", "SICK-R")),
        "SC": ("downstream", ("MR", "CR", "MPQA", "SUBJ", "SST-2", "SST-5", "TREC", "MRPC")),
        "Probing": ("probing", ()),
    },
    choice=False,
)
