"""Reports: a page that opens in any browser, with everything inside, and the files it was made from."""

from potentia.paper.report.page import Definition, Report, Section, Table, render
from potentia.paper.report.pictures import Picture, Replay, picture

__all__ = ["Definition", "Picture", "Replay", "Report", "Section", "Table", "picture", "render"]
