"""Text on disk to batches: corpora, vocabulary, word vectors, subwords. Imports nothing of ours."""
