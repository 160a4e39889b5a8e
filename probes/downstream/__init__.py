"""The downstream tasks: what a frozen encoder is good for (SentEval; Conneau and Kiela 2018)."""
