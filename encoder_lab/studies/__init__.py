"""Whole studies: many runs, one folder, the paper's table or figure at the end."""
