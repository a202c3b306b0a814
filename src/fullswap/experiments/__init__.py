"""Experiments: what the theorems promise, measured."""
