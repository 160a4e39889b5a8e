import torch

from objectives.decoder import Attention, Decoder, Memory

BEGIN, END = 2, 3


def memory(padding: float = 0.0) -> Memory:
    states = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(2))
    states[1, 2:] = padding
    return Memory(states, torch.tensor([4, 2]))


def attending() -> Decoder:
    torch.manual_seed(1)
    return Decoder([1] * 9, sentence_dim=5, embedding_dim=4, hidden=6, layers=2, dropout=0.0, attends_over=3).eval()


def test_attention_is_the_sum_of_states_weighted_by_their_score() -> None:
    torch.manual_seed(0)
    attention, queries, (states, lengths) = Attention(5, 3), torch.randn(2, 6, 5), memory()
    for b in range(2):
        for u in range(6):
            words = states[b, : lengths[b]]
            scores = torch.stack([(attention.score.weight @ queries[b, u]) @ word for word in words])
            context = sum(weight * word for weight, word in zip(scores.exp() / scores.exp().sum(), words, strict=True))
            expected = torch.tanh(attention.combine.weight @ torch.cat([context, queries[b, u]]))
            torch.testing.assert_close(attention(queries, Memory(states, lengths))[b, u], expected)


def test_padding_is_never_attended_to() -> None:
    torch.manual_seed(0)
    attention, queries = Attention(5, 3), torch.randn(2, 6, 5)
    torch.testing.assert_close(attention(queries, memory(0.0)), attention(queries, memory(77.0)))


def test_a_decoder_with_attention_is_one_fused_pass_too() -> None:
    model, sentence, inputs = attending(), torch.randn(2, 5), torch.randint(1, 9, (2, 7))
    state, steps = None, []
    for step in range(7):
        hidden, state = model(sentence, inputs[:, step : step + 1], state, memory())
        steps.append(hidden)
    torch.testing.assert_close(model(sentence, inputs, memory=memory())[0], torch.cat(steps, 1))


def test_the_loss_reaches_every_word_of_the_source() -> None:
    model, (states, lengths) = attending(), memory()
    states.requires_grad_()
    nats, _ = model.loss(torch.randn(2, 5), torch.tensor([[BEGIN, 4, END], [BEGIN, 5, END]]), Memory(states, lengths))
    (slope,) = torch.autograd.grad(nats, states)
    assert (slope.abs().sum(2) > 0).tolist() == [[True] * 4, [True, True, False, False]]


def test_greedy_decoding_attends() -> None:
    model, sentence = attending(), torch.randn(2, 5)
    produced = model.greedy(sentence, BEGIN, END, torch.tensor([6, 6]), memory())
    for row, tokens in enumerate(produced):
        alone = Memory(*(part[row : row + 1] for part in memory()))
        hidden, _ = model(sentence[row : row + 1], torch.tensor([[BEGIN, *tokens]]), memory=alone)
        assert model.output(hidden).argmax(2)[0, : len(tokens)].tolist() == tokens
