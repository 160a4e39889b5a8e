"""What a user may write, and what it means."""
