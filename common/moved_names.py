"""Classes that moved: runs made before 2026-11-23 have their old names in `config.yaml`."""

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
