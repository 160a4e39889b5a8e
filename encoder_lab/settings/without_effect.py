"""Settings that somebody wrote and that nothing reads next to the other settings of a new run or evaluation."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from encoder_lab.settings.known import CONFIGS, known_settings, settings_with_defaults
from encoder_lab.settings.model_setting import MODEL_NAMES, UNTRAINED_ENCODERS
from encoder_lab.settings.quoting import command_line_value
from encoder_lab.settings.run import names_of
from encoder_lab.settings.run_settings import CLASS_KEY, dotted_items

OMIT = "or leave it out"
TASK_SETTINGS = "suites?|seed|cache|corpus|probes|protocol|allow"  # of which tasks are made
# models that are no run and have no name of one word
MODEL_PREFIXES = ("untrained/", "hf:", "vectors:", "call:", "lm:")
SHARED_PROBES = "classifier|measures|every_n_epochs|steps"  # those of `probes.` that other suites read, too
WORD_VECTOR_SETTINGS = r"embeddings(\..*)?"
OBJECTIVES_WITHOUT_DECODER = {"objectives.nli.NLI", "objectives.discourse.Discourse"}
NAMED_PAIR = re.compile(r"nmt_(\w\w)(\w\w)")  # an objective with the name of its languages
FILE_OF_VECTORS = "datamodules.word_vectors.store.FromFile"
SAVED_DATASET, INFERENCE_DATA = "datamodules.corpora.arrow.SavedDataset", "datamodules.nli.InferencePairs"

Unread = Iterator[tuple[str, str]]  # names, as a pattern, and what would have an effect


def ineffective_settings(program: str, settings: Mapping[str, Any], arguments: Sequence[str]) -> list[str]:
    """A line for each reason: the first setting of the command or of a user's file that has no effect for it."""
    written = _chosen_settings(program, settings, arguments)
    lines = []
    for pattern, remedy in unread_settings(program, settings):
        if match := next(filter(None, (re.fullmatch(pattern, name) for name in written)), None):
            lines.append(f"{match[0]}={command_line_value(written[match[0]])}: {match.expand(remedy)}")
            written = {key: value for key, value in written.items() if not re.fullmatch(pattern, key)}
    return lines


def unread_settings(program: str, settings: Mapping[str, Any]) -> Unread:
    """What nothing reads next to the other settings."""
    if settings["corpus"].get("dev_source") and settings["corpus"].get("test_source"):
        yield r"corpus\.held_out", "dev and test have files of their own; leave it out"
    yield from _unread_in_parts(settings)
    yield from _unread_in_suites(settings)
    yield from _unread_in_evaluation(settings) if program == "evaluate" else _unread_in_training(settings)


def _chosen_settings(program: str, settings: Mapping[str, Any], arguments: Sequence[str]) -> dict[str, Any]:
    """The choices and settings that the arguments name, and settings with a value that our files never give them."""
    typed = {text.partition("=")[0].lstrip("+").rpartition("@")[2]: text.partition("=")[2] for text in arguments}
    choices = {key: value for key, value in typed.items() if (CONFIGS / key).is_dir()}
    usual: dict[str, list[Any]] = {}
    for file in known_settings(program).files:
        for name, value in dotted_items(file):
            usual.setdefault(name, []).append(value)
    for part in settings.get("parts") or ():
        if (path := CONFIGS / "objective" / f"{part}.yaml").is_file():
            usual |= {f"parts.{part}.{name}": [value] for name, value in dotted_items(settings_with_defaults(path))}
    return choices | {
        name: value
        for name, value in dotted_items(settings)
        if any(_writes(key, text, name) for key, text in typed.items() if key not in choices)
        or not (isinstance(value, dict) or value in (values := usual.get(name, ())) or "${" in str(values))
    }


def _writes(key: str, text: str, name: str) -> bool:
    """Whether the argument `key=text` writes the setting `name`; `{...}` writes those that it names."""
    inner = name.removeprefix(key).split(".")[1:] if text.startswith("{") else []
    return f"{name}.".startswith(f"{key}.") and all(re.search(rf"\b{re.escape(part)}\W*:", text) for part in inner)


def _unread_in_parts(settings: Mapping[str, Any]) -> Unread:
    if "parts" not in settings:
        return
    chosen = settings["objective"].get("parts")
    if chosen is None:
        yield r"parts\..*", f"only objective=multitask has parts; give objective=multitask, {OMIT}"
        return
    yield r"parts\.\w+\.(objective\.optimizer\b.*)", r"the parts share one optimiser; give \1="
    yield r"parts\.\w+\.(?!objective\b|datamodule\b|corpus\b)(.*)", r"all parts share it; give \1="
    for name, part in settings["parts"].items():
        if CLASS_KEY not in (part.get("corpus") or (CLASS_KEY,)):
            yield rf"parts\.{name}\.corpus\..*", f"the part has no corpus of its own; give +corpus@parts.{name}.corpus="
        if name not in chosen:
            parts = ",".join([*map(str, chosen), name])
            yield rf"parts\.{name}\..*", f"{name} is not in objective.parts; give objective.parts=[{parts}], {OMIT}"
    if settings["datamodule"].get("parts") != chosen:
        yield r"datamodule\.parts", "the objective says which parts; give objective.parts="


def _unread_in_suites(settings: Mapping[str, Any]) -> Unread:
    suites = settings.get("suites") or {}
    groups = [suite["settings"] for suite in suites.values()]
    if suites and "probes" not in groups:
        names = ",".join(["probing", *suites])
        yield rf"probes(\.(?!{SHARED_PROBES}).*)?", f"only suite=probing reads it; give suite=[{names}], {OMIT}"
    if suites and not _some_suite_reads("classifier", settings):
        yield r"protocol|probes\.classifier\..*", f"no suite here has a classifier; give suite=[probing], {OMIT}"
    classifier = settings["probes"]["classifier"]
    if classifier.get("widths") == [0] and any(classifier["dropouts"]):
        yield r"probes\.classifier\.dropouts", f"widths=[0] has no hidden layer; give other widths, {OMIT}"
    on = settings["use"].get("on", "objective") if "use" in suites else "objective"
    if on not in ("objective", *takewhile("use".__ne__, suites)):
        yield (
            r"use\.on",
            f"no suite before it has this name; write suite=[probing,downstream,use] use.on=downstream, {OMIT}",
        )
    if on != "objective":
        yield r"use\.examples", "only use.on=objective has dev examples; leave it out"
    if "coherence" in suites and settings["coherence"].get("paths") is not None:
        yield r"coherence\.items", "the files of coherence.paths= have their own items; leave it out"


def _some_suite_reads(setting: str, settings: Mapping[str, Any]) -> bool:
    """Whether a suite reads the `classifier`, the `corpus` or the settings of `surprisal`."""
    source = settings["probes"]["source"]
    text = "language" in source and not (source["language"] or source["tokenized"])  # has the language of the corpus
    files = setting == "corpus" and (source.get("root") or source.get("paths")) and not text
    suites = (settings.get("suites") or {}).values()
    reading = [suite for suite in suites if setting in suite.get("reads", (setting,))]
    return any(not (files and suite["settings"] == "probes") for suite in reading)


def _unread_in_evaluation(settings: Mapping[str, Any]) -> Unread:
    if settings["write_sentences"]:
        groups = "|".join([TASK_SETTINGS, *(suite["settings"] for suite in settings["suites"].values())])
        remedy = "write_sentences= writes the sentences of tasks and stops; leave it out"
        yield rf"(?!(write_sentences|{groups})\b).*|probes\.classifier\.(?!protocol\b).*", remedy
    names, from_text = names_of(settings["model"]), _words_from_text(settings)
    forms = {re.split("[:/]", name)[0] if name.startswith(MODEL_PREFIXES) else name for name in names}
    initial, named = forms & {*UNTRAINED_ENCODERS, "untrained"}, (*MODEL_NAMES, *(p[:-1] for p in MODEL_PREFIXES))
    runs = forms.difference(named)
    for suite, entry in settings["suites"].items():
        lacks_loss = suite == "use" and settings["use"].get("on", "objective") == "objective"
        unscored = named if lacks_loss else entry.get("cannot_score", ())
        if lacking := sorted(forms.intersection(unscored)):
            scored = ", ".join(["a run", *(form for form in named if form not in unscored)])
            yield "model", f"suite={suite} cannot score {', '.join(lacking)}; it scores {scored}"
    if not (runs or initial):
        yield WORD_VECTOR_SETTINGS, f"no model here reads word vectors; give model=bov or a run, {OMIT}"
    elif from_text and not initial:
        yield WORD_VECTOR_SETTINGS, f"a run has its own word vectors; give embeddings=file for more, {OMIT}"
    yield r"embeddings\.freeze", "it is about training; leave it out"
    if not (_some_suite_reads("corpus", settings) or (initial and from_text) or forms & {"ngram", "unigram"}):
        yield r"corpus(\..*)?", "no suite or model here reads it; leave it out"
    if "hf" not in forms:
        yield "layers|pooling|prompt", f"only a Hugging Face model has it; give model=hf:NAME_OR_PATH, {OMIT}"
    if "vectors" not in forms:
        yield "sentences", f"only a file of vectors has it; give model=vectors:FILE.npy, {OMIT}"
    if not _some_suite_reads("surprisal", settings):
        yield "bos|eos", f"it is about the surprisal of texts; give suite=coherence, {OMIT}"
    if not (runs or "lm" in forms):
        yield "bos|eos", f"no model here has it; give model=lm:PATH, {OMIT}"
    yield r"probes\.(every_n_epochs|steps)", "it is about training; give epochs=, for the epochs that a run keeps"
    if settings["protocol"] not in (None, settings["probes"]["classifier"]["protocol"]):
        yield r"probes\.classifier\.protocol", f"protocol={settings['protocol']} replaces it; leave one of them out"


def _words_from_text(settings: Mapping[str, Any]) -> bool:
    return settings["embeddings"]["source"].get(CLASS_KEY) != FILE_OF_VECTORS


def _unread_in_training(settings: Mapping[str, Any]) -> Unread:
    if settings.get("init"):
        yield r"embeddings\.scale", "the words of init= have vectors, and new ones get their scale; leave it out"
    if settings.get("init") and _words_from_text(settings):
        remedy = f"give embeddings=file for more, {OMIT}"
        yield r"embeddings\.(?!dim\b|freeze\b).*", f"the words of init= have vectors; {remedy}"
    if not settings["trainer"].get("gradient_clip_val"):
        yield r"trainer\.gradient_clip_algorithm", f"nothing is clipped; give trainer.gradient_clip_val=, {OMIT}"
    if not (settings["logger"] or settings["trainer"].get("logger")):
        yield r"trainer\.log_every_n_steps", f"no logger gets these points; give logger=[csv], {OMIT}"
    encoder = settings["encoder"]
    if encoder.get("_target_") == "encoders.bigru.BiGRU" and encoder.get("layers") == 1 and encoder.get("dropout"):
        yield r"encoder\.dropout", f"it is between layers, and there is one; give encoder.layers=2, {OMIT}"
    own = settings["objective"]
    parts = {name: part for name, part in (settings.get("parts") or {}).items() if name in own.get("parts", ())}
    trained = {part["objective"][CLASS_KEY] for part in parts.values()} or {own[CLASS_KEY]}
    if encoder.get("attention") and trained <= OBJECTIVES_WITHOUT_DECODER:
        yield r"encoder(\.attention)?", "this objective has no decoder that attends; give encoder=bilstm_last"
    yield from _unread_columns(settings["corpus"], [part["datamodule"] for part in parts.values() or [settings]])
    for name, part in {"": settings, **parts}.items():
        prefix, objective = rf"parts\.{name}\." if name else "", part.get("objective") or {}
        yield from _unread_in_objective(prefix, objective)
        pair = NAMED_PAIR.fullmatch(name or str(settings.get("objective_name")))
        source = (part.get("corpus") or settings["corpus"]).get("source_language", "en")
        if pair and pair.groups() != (source, part["datamodule"].get("target")):
            languages = rf"{prefix}datamodule\.target|({prefix})?corpus\.source_language"
            yield languages, f"{pair[0]} is the name of another pair of languages; give objective=nmt"
        if encoder.get("attention") and not objective.get("attention", True):
            attends = "with encoder.attention=true the decoder attends"
            yield rf"{prefix}objective\.attention", f"{attends}; choose another encoder=, {OMIT}"


def _unread_columns(corpus: Mapping[str, Any], data: Sequence[Mapping[str, Any]]) -> Unread:
    """The columns of a data set that these datamodules do not read."""
    classes = {str(part.get(CLASS_KEY)) for part in data}
    if corpus.get(CLASS_KEY) != SAVED_DATASET or not all(name.startswith("datamodules.") for name in classes):
        return
    if INFERENCE_DATA not in classes:
        yield r"corpus\.(premise|hypothesis|label)", f"it is for inference; give objective=nli, {OMIT}"
    if {part.get("target", "same") for part in data} <= {"same", "next"}:
        yield r"corpus\.target(_language)?", f"it is for translation; give objective=nmt, {OMIT}"


def _unread_in_objective(prefix: str, objective: Mapping[str, Any]) -> Unread:
    if objective.get("head") == "linear" and objective.get("dropout"):
        yield rf"{prefix}objective\.dropout", f"objective.head=linear has none; give objective.head=nonlinear, {OMIT}"
    if not isinstance(chosen := objective.get("losses"), list):
        return
    yield rf"{prefix}objective\.weights\.(?!({'|'.join(chosen)})$).*", f"add its loss to objective.losses, {OMIT}"
    for losses, names in (("nsp sdt", "bag_words"), ("nl", "levels"), ("spp", "(sentence|paragraph)_positions")):
        if not any(loss in chosen for loss in losses.split()):
            terms = losses.replace(" ", " or ")
            yield rf"{prefix}datamodule\.{names}", f"the loss {terms} reads it; add it to objective.losses, {OMIT}"
