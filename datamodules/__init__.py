"""Text on disk to batches: corpora, vocabulary, word vectors, subwords. Of our packages it imports only encoder_lab."""
