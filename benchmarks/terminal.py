"""Reports on the terminal."""

from rich.console import Console
from rich.table import Table as Grid

from benchmarks.report import Report, Table


def show(report: Report, console: Console) -> None:
    """The suite's tables, with the machine and date they belong to."""
    console.print()
    console.rule(f"[bold]{report.title}")
    console.print(f"{report.date} · {report.machine.sentence}", style="dim", highlight=False)
    for table in report.tables:
        console.print(grid(table))
        for note in table.notes:
            console.print(f"  {note}", style="dim", highlight=False)


def grid(table: Table) -> Grid:
    """The table as rich draws it."""
    drawn = Grid(title=table.title, title_justify="left", title_style="bold")
    for index, column in enumerate(table.columns):
        drawn.add_column(column, justify="left" if index == 0 else "right", no_wrap=True)
    for row in table.rows:
        drawn.add_row(*row)
    return drawn
