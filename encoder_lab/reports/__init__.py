"""From run folders to tables and figures, next to the published ones."""
