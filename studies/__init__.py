"""The paper, measured: ``python -m studies`` from the root of the repository."""
