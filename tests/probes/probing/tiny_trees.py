"""Trees of a grammar small enough to read: nouns and verbs agree, clauses are coordinated, phrases nest."""

from random import Random

from probes.classification import Classification
from probes.probing.build.all_tasks import BuiltTasks

NOUNS = [stem + end for stem in ("cat", "dog", "bird", "tree", "boat", "lamp", "king") for end in ("", "let", "ling")]
VERBS = [f"{stem}{end}" for stem in ("walk", "call", "help", "paint", "load") for end in ("", "en", "er")]
ADJECTIVES = ["small", "green", "quiet", "ancient", "bright"]


def task_named(built: BuiltTasks, name: str) -> Classification:
    return next(task for task in built.tasks if task.name == name)


def tiny_trees(count: int, seed: int = 0) -> list[str]:
    """`count` trees, a function of the seed."""
    random = Random(seed)
    return [_sentence(random) for _ in range(count)]


def _sentence(r: Random) -> str:
    draw = r.random()
    if draw < 0.2:
        comma = "(, ,) " if r.random() < 0.3 else ""
        return f"(ROOT (S {_clause(r, 1)} {comma}(CC {r.choice(['and', 'but'])}) {_clause(r, 1)} (. .)))"
    front = r.choice(["", "", "", "(ADVP (RB Then)) ", "(CC But) ", _prepositional(r, 0) + " "])
    if draw < 0.3:
        return f"(ROOT (S (VP (VB {r.choice(VERBS)}) {_noun_phrase(r, 1)[0]} {_prepositional(r, 2)}) (. .)))"
    return f"(ROOT (S {front}{_clause(r)[3:-1]} (. .)))"


def _clause(r: Random, most: int = 2) -> str:
    subject, number = _noun_phrase(r, r.choice([0, 0, most - 1]))
    verb = r.choice(VERBS)
    tag = r.choice(["VBD", "VBZ" if number == "NN" else "VBP"])
    form = verb + {"VBD": "ed", "VBZ": "s", "VBP": ""}[tag]
    places = "".join(
        " " + _prepositional(r, r.choice([0, 0, 1, 2][: most + 1])) for _ in range(r.choice([0, 1, 1, 2][: most + 2]))
    )
    return f"(S {subject} (VP ({tag} {form}) {_noun_phrase(r, r.choice([0, 0, 1, 2][: most + 1]))[0]}{places}))"


def _noun_phrase(r: Random, depth: int) -> tuple[str, str]:
    tag = r.choice(["NN", "NNS"])
    noun = r.choice(NOUNS[: r.randint(1, len(NOUNS))]) + ("s" if tag == "NNS" else "")
    adjectives = "".join(f" (JJ {r.choice(ADJECTIVES)})" for _ in range(r.choice([0, 0, 1, 2, 3])))
    core = f"(NP (DT the){adjectives} ({tag} {noun}))"
    return (f"(NP {core} {_prepositional(r, depth - 1)})" if depth else core), tag


def _prepositional(r: Random, depth: int) -> str:
    return f"(PP (IN {r.choice(['near', 'behind', 'with'])}) {_noun_phrase(r, depth)[0]})"
