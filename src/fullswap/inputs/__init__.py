"""Outcomes and probabilities as people have them -> checked arrays."""
