"""SkipThought: predict the next sentence of the document."""

from typing import Literal

from objectives.sequence import SequenceObjective


class SkipThought(SequenceObjective):
    """Predict the next sentence, subword by subword (Kiros et al. 2015, with one decoder as in Tang et al. 2017).

    Score: perplexity per subword, as in Conneau et al. 2018, appendix. Data: TextPairs with target "next".
    """

    score = "val/perplexity"
    mode: Literal["min", "max"] = "min"
