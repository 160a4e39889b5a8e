"""What the packages of parts stand on, and what makes runs and reports of them."""
