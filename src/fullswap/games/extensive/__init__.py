"""Extensive games: trees, and plans over sequences instead of lists of strategies."""
