"""The names of `model=` that stand for models of the coherence suite without any training of an encoder."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from common.errors import InputError
from common.model import Model
from datamodules.corpus import Corpus
from probes.coherence.models import Called, Length
from probes.coherence.ngram import NgramModel
from probes.surprisals import Pair, TokenLogprobs
from probes.task import Needs

ORDERS = {"unigram": 1, "ngram": 3}  # words of an n-gram
FORMS = "a run of skipthought or discourse, lm:PATH, ngram, unigram, length or call:MODULE:FUNCTION"


def surprisal_model(name: str, needs: set[Needs], corpus: Corpus, settings: Any) -> Model | None:
    """The model of a name, None where it is another kind of model. `needs`: what the tasks need; `settings`: corpus=.

    `length` is also a baseline of probing tasks, and a function of `call:` gives vectors where the tasks need those.
    Raises InputError where the tasks need both of a function.
    """
    if name in ORDERS:
        known = f"{name} {ORDERS[name]} {corpus.fingerprint()}"
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
        return NgramModel(corpus.sentences("train"), ORDERS[name])

    def logprobs(pairs: Sequence[Pair]) -> list[TokenLogprobs]:
        return model().logprobs(pairs)

    return logprobs
