"""What evaluate.py is asked for: the models to score, and the tasks."""
