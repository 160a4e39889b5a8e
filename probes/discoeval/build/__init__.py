"""DiscoEval's tasks from any documents, discourse relations and rhetorical trees."""
