"""The names of rhetorical relations: the 18 coarse ones of RST-DT, and GUM's."""

RST_DT = {
    "Attribution": "attribution attribution-negative",
    "Background": "background circumstance",
    "Cause": "cause result cause-result consequence",
    "Comparison": "comparison preference analogy proportion",
    "Condition": "condition hypothetical contingency otherwise",
    "Contrast": "contrast concession antithesis",
    "Elaboration": "elaboration elaboration-additional elaboration-general-specific elaboration-part-whole "
    "elaboration-process-step elaboration-object-attribute elaboration-set-member example definition",
    "Enablement": "purpose enablement",
    "Evaluation": "evaluation interpretation conclusion comment",
    "Explanation": "evidence explanation-argumentative reason",
    "Joint": "list disjunction",
    "Manner-Means": "manner means",
    "Topic-Comment": "problem-solution question-answer statement-response topic-comment comment-topic "
    "rhetorical-question",
    "Summary": "summary restatement",
    "Temporal": "temporal-before temporal-after temporal-same-time sequence inverted-sequence",
    "Topic-Change": "topic-shift topic-drift",
    "Textual-Organization": "textualorganization",
    "Same-Unit": "same-unit",
}
COARSE = {fine: name for name, several in RST_DT.items() for fine in several.split()}
GUM = {
    *("adversative", "attribution", "causal", "context", "contingency", "elaboration", "evaluation", "explanation"),
    *("joint", "mode", "organization", "purpose", "restatement", "topic"),
}


def coarse(relation: str) -> str:
    """Carlson et al. 2001's class of an RST-DT relation, GUM's of one of its own, else the relation as it is.

    RST-DT's endings are left out: -e (embedded), -n and -s (which side is meant).
    """
    name = relation.strip().lower()
    for ending in ("-e", "-n", "-s"):
        name = name.removesuffix(ending)
    first, hyphen, _ = name.partition("-")
    if name in COARSE:
        return COARSE[name]
    return first.capitalize() if hyphen and first in GUM else relation.strip()
