"""The names of `model=` that stand for models of the coherence suite without any training of an encoder."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from datamodules.corpus import Corpus, made_of
from encoder_lab.errors import InputError
from encoder_lab.model import Model
from encoder_lab.storage.code import code_of
from encoder_lab.storage.content import key_of
from probes.coherence.models import Called, Length
from probes.coherence.ngram import NgramModel
from probes.surprisals import Pair, TokenLogprobs
from probes.task import Needs

ORDERS = {"unigram": 1, "ngram": 4}  # words and boundaries of an n-gram
FORMS = "a run of skipthought or discourse, lm:PATH, ngram, unigram, length or call:MODULE:FUNCTION"


def surprisal_model(name: str, needs: set[Needs], corpus: Corpus, settings: Any) -> Model | None:
    """The model of a name, None where it is another kind of model. `needs`: what the tasks need; `settings`: corpus=.

    `length` is also a baseline of probing tasks, and a function of `call:` gives vectors where the tasks need those.
    Raises InputError where the tasks need both of a function.
    """
    if name in ORDERS:
        known = key_of(name, made_of(corpus), code_of(NgramModel))
        return Model("baseline", name, None, known, settings={"corpus": settings}, logprobs=_counted(corpus, name))
    if "surprisal" not in needs:
        return None
    if name == "length":
        return Model("baseline", name, None, "baseline", logprobs=Length().logprobs)
    if name.startswith("call:"):
        if "vectors" in needs:
            raise InputError(f"model={name}: gives vectors or surprisals, not both; evaluate suite=coherence by itself")
        return Model(name.removeprefix("call:"), "callable", None, logprobs=Called(name.removeprefix("call:")).logprobs)
    return None


def _counted(corpus: Corpus, name: str) -> Any:
    """Counts the corpus when the first text is scored: scores that are cached need no counts."""

    @cache
    def model() -> NgramModel:
        return NgramModel(_running(corpus), ORDERS[name])

    def logprobs(pairs: Sequence[Pair]) -> list[TokenLogprobs]:
        return model().logprobs(pairs)

    return logprobs


def _running(corpus: Corpus) -> Iterator[list[str]]:
    """The training sentences of each document; where the corpus has no documents, each sentence by itself."""
    if type(corpus).documents is Corpus.documents:
        yield from ([sentence] for sentence in corpus.sentences("train"))
        return
    for document in corpus.documents("train"):
        yield [said for section in document.sections for paragraph in section.paragraphs for said in paragraph]
