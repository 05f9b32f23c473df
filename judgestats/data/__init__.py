"""What was said: schemas of the judgments frame, its shapes, and readers of files."""
