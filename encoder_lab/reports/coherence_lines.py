"""What an evaluation prints of coherence suites: scores with their intervals, predictions, and the bits of regions."""

from collections.abc import Iterator, Mapping, Sequence

from encoder_lab.reports.published import published
from encoder_lab.reports.runs import grouped
from encoder_lab.reports.text import aligned
from probes.coherence.formula import chance
from probes.coherence.scoring import compared_name, note_on_ties
from probes.coherence.tasks import PAIRS_DETAIL, TIES_PREFIX
from probes.evaluation import Evaluated
from probes.statistics import interval_with_ties

PAPER_TABLES = ("beyer2021_tables1to5", "beyer2021_table4")
REGION_MEASURES = ("sum", "mean")


def suite_lines(title: str, scores: Sequence[Evaluated], tables: Sequence[str] | None) -> str:
    """Each suite of one model. `tables`: the published ones to be quoted; None is those of the paper."""
    quoted = [score for table in (PAPER_TABLES if tables is None else tables) for score in published(table)]
    quotes = grouped((score.task, (score.model, score.score)) for score in quoted)
    heading = f"{title}: items that hold in % with Wilson's 95% interval; bits of a region and of its tokens, means"
    return "\n".join([heading, *(line for scored in scores for line in _task_lines(scored, quotes))]) + "\n"


def _task_lines(scored: Evaluated, quotes: dict[str, list[tuple[str, float]]]) -> Iterator[str]:
    row, details, items = scored.row, scored.details, len(scored.correct)
    line = f"{row.test_accuracy:.1f} [{row.test_low:.1f}, {row.test_high:.1f}] of {items} items"
    line += note_on_ties(details.get("ties", 0), details.get("undefined", 0))
    if long := details.get("long texts"):
        line += f", {long:.0f} texts longer than the model's context"
    names = [name for name in quotes if name == row.task or name.startswith(f"{row.task}_")]
    yield f"  {row.task}: {line}{_published_text(row.task, names, quotes)}"
    formulas = [name for name in details if "%" in name and not name.startswith(TIES_PREFIX)]
    if formulas:
        chances = {chance([formula], syntaxgym=True) for formula in formulas}  # parsed as it was scored
        same = chances.pop() if len(chances) == 1 else None
        by_chance = "" if same is None else f", each {same:.4g} by chance"
        of_all = _chance_text(row.chance)
        yield f"    {len(formulas)} predictions{by_chance}; the score above is of all together{of_all}"
        yield f"    each of them as an item by itself: {details[PAIRS_DETAIL]:.1f} of {len(formulas) * items}"
    for formula in formulas:
        low, high = interval_with_ties(round(details[formula] * items / 50) / 2, items)
        line = f"{details[formula]:.1f} [{low:.1f}, {high:.1f}]{note_on_ties(details.get(TIES_PREFIX + formula, 0), 0)}"
        line += "" if by_chance else _chance_text(chance([formula], syntaxgym=True))
        name = compared_name(row.task, formula)
        yield f"    {formula}: {line}{_published_text(name, [name] if name in quotes else [], quotes)}"
    yield from _region_lines(details)


def _chance_text(percent: float | None) -> str:
    return "" if percent is None else f", {percent:.1f} by chance"


def _published_text(task: str, names: Sequence[str], quotes: dict[str, list[tuple[str, float]]]) -> str:
    """`; GPT-2 86, DialoGPT 78 published`, with the part of the name that ours does not have."""
    parts = {name: name.removeprefix(task).replace("_", " ") for name in names}
    cells = [f"{model}{part} {score:.0f}" for name, part in parts.items() for model, score in quotes[name]]
    return f"; published {', '.join(cells)}" if cells else ""


def _region_lines(details: Mapping[str, float]) -> Iterator[str]:
    """A line for each condition, with the sum and the mean of each region."""
    regions: dict[str, dict[tuple[int, str], float]] = {}
    for name, value in details.items():
        measure, _, rest = name.partition(" ")
        condition, _, region = rest.rpartition(" ")
        if measure in REGION_MEASURES and region.isdecimal() and condition:
            regions.setdefault(condition, {})[int(region), measure] = value
    columns = sorted({key for values in regions.values() for key in values}, key=lambda key: (key[0], key[1] == "mean"))
    rows = [["condition", *(f"{region} {measure}" for region, measure in columns)]]
    rows += [[c, *(f"{v[key]:.2f}" if key in v else "" for key in columns)] for c, v in regions.items()]
    yield from (f"    {line}" for line in aligned(rows))
