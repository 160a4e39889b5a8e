"""Classes that moved: settings of runs made before 2026-11-23 name them as they were called then."""

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
    "probes.sources.Nowhere": "probes.probing.data.Nowhere",
}


def with_new_names(settings: Any) -> Any:
    """The same plain settings with every `_target_` under the name that the class has today."""
    if isinstance(settings, dict):
        return {
            key: MOVED.get(value, value) if key == "_target_" and isinstance(value, str) else with_new_names(value)
            for key, value in settings.items()
        }
    return [with_new_names(value) for value in settings] if isinstance(settings, list) else settings
