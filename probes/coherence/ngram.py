"""Models of running text: an interpolated n-gram model (NLTK), and the lengths of words.

They show what word frequencies and short contexts know of coherence.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache

import numpy as np
import regex

from datamodules.corpus import Corpus
from datamodules.text.sentences import SEPARATOR, sentence_spans
from encoder_lab.errors import InputError
from probes.surprisals import Pair, TokenLogprobs

WORD = regex.compile(regex.escape(SEPARATOR) + r"|[\p{L}\p{M}\p{N}_]+|\S")  # a letter has its vowel sign and accent
MIN_COUNT = 2  # times that a word must occur to be a word of the model; all others are unknown words
UNKNOWN, BOUNDARY = "<UNK>", "</s>"
ORDERS = {"unigram": 1, "ngram": 4}  # words and boundaries of an n-gram
CACHED_NGRAMS = 1 << 16  # n-grams with a known probability in memory


class NgramModel:
    """Witten-Bell interpolation of NLTK (Chen and Goodman 1998, section 2.5).

    p(w|h) = (c(hw) + n(h) p(w|h')) / (c(h) + n(h)), where n(h) is the number of different words after h and h' is h
    without its first word; p(w) = c(w) / N. `order=1` is the unigram control: a sum over a text does not depend on the
    order of words.

    Contexts run across the sentences of a text, with a boundary between two sentences and around the text. `[SEP]` is
    such a boundary. The others are context alone and have no surprisal.

    Open vocabulary: words that occur once in the training text are one unknown word, counted one time more than they
    occur. Its probability is shared equally by these words and any new one, so that no unknown word is more probable
    than a word of the model is by itself.
    """

    def __init__(self, texts: Iterable[Sequence[str]], order: int = 4) -> None:
        """`texts`: sentences in order. Raises InputError where they have no word."""
        from nltk.lm import Vocabulary, WittenBellInterpolated  # only now: it takes a second
        from nltk.util import everygrams

        if order < 1:
            raise InputError(f"order={order}: an n-gram has at least one word")
        rows = [list(_add_boundaries(text)) for text in texts]
        self.vocabulary = Vocabulary((word for row in rows for word in row), unk_cutoff=MIN_COUNT, unk_label=UNKNOWN)
        words = self.vocabulary.counts.keys() - {BOUNDARY, SEPARATOR}
        if not words:
            raise InputError("no words to count for an n-gram model; give a corpus with text")
        self.rare = sum(self.vocabulary.counts[word] < MIN_COUNT for word in words)
        names = {word: self._symbol(word) for word in self.vocabulary.counts}
        self.order, self.model = order, WittenBellInterpolated(order, vocabulary=self.vocabulary)
        self.model.counts.update(everygrams([names[word] for word in row], max_len=order) for row in rows)
        self.model.counts.update([[(UNKNOWN,)]])
        estimator = self.model.estimator
        estimator._gamma = cache(estimator._gamma)  # it counts all words after a context each time
        self.bits = lru_cache(CACHED_NGRAMS)(self._bits)

    def _symbol(self, word: str) -> str:
        return BOUNDARY if word in (SEPARATOR, BOUNDARY) else str(self.vocabulary.lookup(word))

    def logprobs(self, pairs: Sequence[Pair]) -> list[TokenLogprobs]:
        """Words and marks; a word that begins in the context is context."""
        return [self._score_text("".join(pair), len(pair[0])) for pair in pairs]

    def _score_text(self, text: str, begin: int) -> TokenLogprobs:
        history, tokens, spans, bits = [BOUNDARY], [], [], []
        for start, end in sentence_spans(text):
            if history[-1] != BOUNDARY and not text.startswith(SEPARATOR, start):
                history.append(BOUNDARY)
            for word in WORD.finditer(text, start, end):
                symbol = self._symbol(word[0])
                if word.start() >= begin:
                    tokens.append(word[0])
                    spans.append((word.start() - begin, word.end() - begin))
                    bits.append(self.bits(symbol, tuple(history[max(0, len(history) - self.order + 1) :])))
                history.append(symbol)
            history = history[-self.order :]
        return TokenLogprobs(tokens, np.array(spans, np.int64).reshape(-1, 2), np.array(bits, np.float64))

    def _bits(self, symbol: str, history: tuple[str, ...]) -> float:
        """log2 p of a symbol after others."""
        while history and history not in self.model.counts[len(history) + 1]:  # so that nothing is added to the counts
            history = history[1:]
        share = self.rare + 1 if symbol == UNKNOWN else 1
        return math.log2(self.model.unmasked_score(symbol, history) / share)


def length_logprobs(pairs: Sequence[Pair]) -> list[TokenLogprobs]:
    """Words and marks with minus their lengths: each word costs one bit for each of its characters, in any context."""
    scored = []
    for pair in pairs:
        words = [word for word in WORD.finditer("".join(pair)) if word.start() >= len(pair[0])]
        offsets = np.array([word.span() for word in words], np.int64).reshape(-1, 2) - len(pair[0])
        lengths = (offsets[:, 1] - offsets[:, 0]).astype(np.float64)
        scored.append(TokenLogprobs([word[0] for word in words], offsets, -lengths))
    return scored


def _add_boundaries(sentences: Sequence[str]) -> Iterator[str]:
    yield BOUNDARY
    for sentence in sentences:
        yield from WORD.findall(sentence)
        yield BOUNDARY


def lazy_ngram_model(corpus: Corpus, name: str) -> Callable[[Sequence[Pair]], list[TokenLogprobs]]:
    """The model `unigram` or `ngram` of a corpus; counts when the first text is scored, as cached scores need none."""
    model = cache(lambda: NgramModel(_training_texts(corpus), ORDERS[name]))
    return lambda pairs: model().logprobs(pairs)


def _training_texts(corpus: Corpus) -> Iterator[list[str]]:
    """The training sentences of each document; where the corpus has no documents, each sentence by itself."""
    if type(corpus).documents is Corpus.documents:
        yield from ([sentence] for sentence in corpus.sentences("train"))
        return
    for document in corpus.documents("train"):
        yield list(document.sentences())
