"""Reports: one page about a study of one's own, which opens anywhere and asks nobody for anything.

``study.report("study.html")`` and ``potentia report study.study`` write it. :mod:`~potentia.reports.pages` is what a
page is made of, the other modules say what stands on it.
"""

from potentia.kernel.loading import listing
from potentia.reports.writing import write_report

__all__ = ["write_report"]

__dir__ = listing(__all__)
