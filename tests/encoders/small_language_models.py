"""Language models with random weights, as the hub would give them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

TEXT = ["The cat sat on the mat. Then it slept.", "A dog saw the cat, and the cat saw it 😀.", "Where is the mat?"] * 9


def gpt2(folder: Path, context: int = 64, text: Sequence[str] = TEXT) -> Path:
    """A GPT-2 with random weights and a byte-level tokenizer, as the hub would give it."""
    import transformers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        text, trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, special_tokens=["<|endoftext|>"])
    )
    ends = dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>")
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **ends).save_pretrained(folder)
    return save(folder, "GPT2LMHead", vocab_size=300, n_positions=context, n_embd=32, n_layer=2, n_head=2)


def save(folder: Path, of: str, **config: Any) -> Path:
    """Weights large enough to be sure of themselves."""
    import transformers

    torch.manual_seed(0)
    settings = getattr(transformers, of.replace("LMHead", "").replace("ForCausalLM", "") + "Config")(**config)
    model = getattr(transformers, of if of.endswith("ForCausalLM") else f"{of}Model")(settings)
    for parameter in model.parameters():
        parameter.data.mul_(3)
    model.save_pretrained(folder)
    return folder
