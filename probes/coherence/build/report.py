"""What a build made, in report.md: counts, lengths, what was left out and why, and what the controls score."""

from pathlib import Path

import numpy as np

from datamodules.text.sentences import capitalise
from encoder_lab.storage.files import atomic_write
from probes.coherence.build.draft import Draft
from probes.coherence.ngram import NgramModel, length_logprobs
from probes.coherence.regions import text_of
from probes.coherence.scoring import pairs_of, score_line, score_suite
from probes.coherence.suite_file import TestSuite
from probes.markdown import markdown_table, page
from probes.surprisals import Logprobs, score_pairs


def write_report(draft: Draft, sources: list[str], path: Path) -> None:
    blocks: list[str | list[str]] = ["# Coherence suites", f"From {', '.join(sources)}."]
    for suite in draft.suites:
        blocks += [f"## {suite.name}", f"{capitalise(suite.meta['comment'])}. {len(suite.items)} items."]
        texts = zip(*(item.texts for item in suite.items), strict=True)
        lengths = [[len(text_of(text).split()) for text in condition] for condition in texts]
        words = zip(suite.conditions, map(np.mean, lengths), map(min, lengths), map(max, lengths), strict=True)
        scores = [
            (name, f"`{score.formula.replace('|', chr(92) + '|')}`", score_line(score))
            for name, model in controls(suite).items()
            for score in score_suite(suite, score_pairs(model, pairs_of(suite))).predictions
        ]
        blocks.append(markdown_table(["condition", "words on average", "fewest", "most"], list(words)))
        blocks.append(markdown_table(["control", "prediction", "score"], scores))
    counts = draft.excluded, draft.changed
    excluded, changed = ([f"* {count} {reason}" for reason, count in sorted(part.items())] for part in counts)
    blocks += ["## Left out", excluded or "Nothing.", "## Changed" if changed else "", changed]
    with atomic_write(path) as file:
        file.write(page(*blocks))


def controls(suite: TestSuite) -> dict[str, Logprobs]:
    """Models without context: word lengths, and word frequencies in the suite's own texts of all conditions."""
    unigram = NgramModel(([text_of(text)] for item in suite.items for text in item.texts), 1)
    return {"length": length_logprobs, "unigram": unigram.logprobs}
