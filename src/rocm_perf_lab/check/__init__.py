"""A program run with every access watched, and what was found."""
