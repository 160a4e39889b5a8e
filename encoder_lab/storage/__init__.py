"""Files, locks and caches that survive a kill."""
