"""Outcomes, probabilities, frames and files as people have them."""
