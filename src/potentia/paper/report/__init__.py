"""Reports: a page that opens in any browser, with everything inside, and the files it was made from."""

from potentia.paper.report.page import Report, Section, Table, render
from potentia.paper.report.pictures import Picture, picture

__all__ = ["Picture", "Report", "Section", "Table", "picture", "render"]
