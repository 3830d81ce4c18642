"""A run for other tools: one file per format, all from the same table of slices."""
