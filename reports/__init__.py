"""From run folders to tables and figures that stand beside the published ones."""
