"""Classes and settings that moved: older runs have their old names in `config.yaml`."""

from typing import Any

MOVED = {
    "datamodules.text_pairs.TextPairs": "datamodules.seq2seq.TextPairs",
    "datamodules.sentence_trees.SentenceTrees": "datamodules.seq2tree.SentenceTrees",
    "datamodules.inference_pairs.InferencePairs": "datamodules.nli.InferencePairs",
    "datamodules.in_documents.SentencesInDocuments": "datamodules.discourse.SentencesInDocuments",
    "datamodules.mixture.Mixture": "datamodules.multitask.Mixture",
    "datamodules.word_vectors.FromFile": "datamodules.word_vectors.store.FromFile",
    "datamodules.word_vectors.Trained": "datamodules.word_vectors.store.Trained",
    "probes.classifier.Grid": "probes.classifiers.grid.Grid",
    "probes.sources.FromCorpus": "probes.probing.data.FromCorpus",
    "probes.sources.FromSentEval": "probes.probing.data.FromSentEval",
    "probes.sources.FromTrees": "probes.probing.data.FromTrees",
    "probes.sources.Nowhere": "probes.probing.data.NoTasks",
}


def with_new_names(settings: Any) -> Any:
    """The same plain settings; each `_target_` has the current name of its class."""
    if isinstance(settings, dict):
        return {
            key: MOVED.get(value, value) if key == "_target_" and isinstance(value, str) else with_new_names(value)
            for key, value in settings.items()
        }
    return [with_new_names(value) for value in settings] if isinstance(settings, list) else settings


NLI = "objectives.nli.NLI"
INFERSENT = {"_target_": "training.schedules.InferSent", "shrink": 0.99, "cut": 0.2, "least": 1e-5}


def with_moved_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """The same settings of a run; those that moved to another group are there."""
    found: dict[str, Any] = _without_schedule(settings)
    if "checkpoint_every_n_steps" in settings:
        every = found.pop("checkpoint_every_n_steps")
        found["checkpoints"] = {"keep": "best_last", "every_n_epochs": None, "steps": [], "every_n_steps": every}
    if (settings.get("objective") or {}).get("schedule") == "infersent":
        found["schedule"] = INFERSENT
    return found


def _without_schedule(settings: Any) -> Any:
    """The same settings; NLI has no schedule of its own."""
    if isinstance(settings, dict):
        return {
            key: _without_schedule(value)
            for key, value in settings.items()
            if key != "schedule" or settings.get("_target_") != NLI
        }
    return [_without_schedule(value) for value in settings] if isinstance(settings, list) else settings
