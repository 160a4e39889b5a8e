"""Ranges that many settings share: `dim: Annotated[Width, "sentence vector"] = 512` declares where it is taken."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

MAX_COUNT = 10**9  # of any count: more is a slip of the finger, and would run for ever
MAX_ITEMS = 10**6  # of a split of a probing task; published are 100,000, and more would be built for hours

Count = Annotated[int, Field(ge=1, le=MAX_COUNT)]
ZeroOrMore = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Width = Annotated[int, Field(ge=1, le=65536)]
Depth = Annotated[int, Field(ge=1, le=1000)]
ItemCount = Annotated[int, Field(ge=1, le=MAX_ITEMS)]
Even = Annotated[int, Field(ge=2, le=MAX_ITEMS, multiple_of=2, title=f"an even number from 2 to {MAX_ITEMS}")]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Fraction = Annotated[float, Field(ge=0, lt=1)]
PartOfOne = Annotated[float, Field(ge=0, le=1)]
AboveZero = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
NonEmpty = Annotated[str, Field(min_length=1, title="a name; in quotes if it is a number")]
NameOrNull = Annotated[NonEmpty | None, Field(title="a name; in quotes if it is a number, or null")]
NamesOrNull = Annotated[NonEmpty | Sequence[str] | None, Field(title="a name, or a list in brackets, or null")]
Steps = Annotated[Sequence[Count], Field(title="a list of steps, as [1,2,4,8]")]
Paths = Annotated[Sequence[str], Field(title="a list in brackets, as [data/treebank]")]
Grams = Annotated[int, Field(ge=0, le=100)]

BatchSize = Annotated[Count | None, "sentences or pairs per step; null: 64, or 32 if an epoch has less than 300 steps"]
BatchTokens = Annotated[Count | None, "or the approximate number of tokens per step, for any number of sentences"]
MaxWords = Annotated[Count, "longer sentences and pairs are counted and left out"]
CorpusSize = Annotated[Count | None, "training sentences or pairs, counted to the end of a document; null: all"]
SourceLanguage = Annotated[str, "what the encoder reads; decides how text is tokenised"]
Tokenized = Annotated[bool, "true if the text is already tokenised, with spaces between tokens"]
ProbeSplit = Annotated[bool, "false: what is for probing trains too, where the tasks are made of other text"]
PARTS_HELD_OUT = "one document in so many is dev, one test, two are for probing"
FiveOrMore = Annotated[int, Field(ge=5, le=MAX_COUNT)]
PartHeldOut = Annotated[FiveOrMore, Field(title="5 or more", description=PARTS_HELD_OUT)]
PartHeldOutOrNull = Annotated[
    FiveOrMore | None, Field(title="5 or more, or null", description=f"{PARTS_HELD_OUT}; null: 20, below 500 KB 10")
]
HeldOut = Annotated[
    Annotated[int, Field(ge=3, le=MAX_COUNT)],
    Field(title="3 or more", description="where no split is given: every n-th line is dev, the next one test"),
]
