"""What an encoder is trained to predict. Never imports probes."""
