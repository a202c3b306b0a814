"""A log replayed as it would have happened: no outcome is used before it was known."""
