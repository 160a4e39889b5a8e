"""The packages of the project, and the names of its encoders and objectives: not those of a user's parts."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("datamodules", "encoder_lab", "encoders", "objectives", "probes")  # those that are installed
ENCODERS = (
    *("bigru_mean", "bilstm_att", "bilstm_last", "bilstm_max", "borep", "bov", "esn", "lstm_last"),
    *("gated_convnet", "transformer"),
)
OBJECTIVES = (
    *("autoencoder", "discourse", "multitask", "nli", "nmt", "nmt_ende", "nmt_enfi", "nmt_enfr"),
    *("seq2tree", "skipthought", "untrained"),
)
