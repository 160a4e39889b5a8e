"""Words, subword codes and tokenisation."""
