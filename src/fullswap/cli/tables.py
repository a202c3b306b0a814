"""Tables in the terminal."""

from __future__ import annotations


def print_table(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Numbers to the right; as wide as the terminal, and never folded in a pipe."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title)
    for column in columns:
        numeric = all(_is_number(row[columns.index(column)]) for row in rows)
        table.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*row)
    console = Console()
    # a pipe has no width of its own: do not fold what a program may read
    Console(width=None if console.is_terminal else 200).print(table)


def _is_number(cell: str) -> bool:
    return cell == "–" or cell.replace(".", "").replace(",", "").isdigit()
