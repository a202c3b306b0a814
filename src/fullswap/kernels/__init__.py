"""Compiled loops over plain arrays: no validation, no input or output, only numpy and numba."""
