"""Story cloze (Beyer et al. 2021, section 4.2): the right ending of a story against a wrong one."""

from collections import Counter
from collections.abc import Iterable

from probes.coherence.build.draft import Draft, DraftPair, suite_of_pairs
from probes.coherence.build.texts import WINDOW_SENTENCES, SourceText, split_into_windows


def build_cloze(texts: Iterable[SourceText]) -> Draft:
    """One suite. The endings are those of the Story Cloze test; other stories exchange their endings in pairs.

    Two stories that exchange endings of about the same length give two items, so that a model which sees no context
    is right in one of them and wrong in the other.
    """
    pairs, open_stories, excluded = [], [], Counter[str]()
    for text in texts:
        if text.dialogue:
            excluded["dialogues, which have no ending"] += 1
        elif text.wrong_ending:
            pairs.append(_ending_pair(text, text.wrong_ending))
        elif pieces := split_into_windows(text):
            open_stories += [(text.topic or text.source, piece) for piece in pieces]
        else:
            excluded[f"texts of fewer than {WINDOW_SENTENCES} sentences"] += 1
    unpaired: list[tuple[str, SourceText]] = []
    for story, piece in sorted(open_stories, key=lambda item: (len(item[1].sentences[-1].split()), item[1].source)):
        for index, (other_story, other) in enumerate(unpaired):
            if other_story != story and other.sentences[-1] != piece.sentences[-1]:
                pairs += [_exchange_endings(other, piece), _exchange_endings(piece, other)]
                del unpaired[index]
                break
        else:
            unpaired.append((story, piece))
    if unpaired:
        excluded["pieces without another story to exchange endings with"] = len(unpaired)
    comment = "the right ending of a story against a wrong one"
    suite = suite_of_pairs("story_cloze", ("context", "ending"), ("right", "wrong"), 2, pairs, comment)
    return Draft([suite], excluded)


def _exchange_endings(story: SourceText, other: SourceText) -> DraftPair:
    pair = _ending_pair(story, other.sentences[-1])
    sources = " and ".join(sorted([story.source, other.source]))
    return pair._replace(source=f"{story.source}; wrong ending of {other.source}", twins=sources)


def _ending_pair(text: SourceText, wrong_ending: str) -> DraftPair:
    context = " ".join(text.sentences[:-1])
    return DraftPair(text.source, ((context, text.sentences[-1]), (context, wrong_ending)))
