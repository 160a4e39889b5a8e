"""The names of our own encoders and objectives: what we ask of them alone, and not of a user's."""

ENCODERS = (
    *("bigru_mean", "bilstm_att", "bilstm_last", "bilstm_max", "borep", "bov", "esn", "lstm_last"),
    *("gated_convnet", "transformer"),
)
OBJECTIVES = (
    *("autoencoder", "discourse", "multitask", "nli", "nmt", "nmt_ende", "nmt_enfi", "nmt_enfr"),
    *("seq2tree", "skipthought", "untrained"),
)
