"""Dataset in, figure out; never simulates."""

from potentia.figures.runs import law_figure, potential_figure, scalar_figure
from potentia.figures.stability import stability_figure

__all__ = ["law_figure", "potential_figure", "scalar_figure", "stability_figure"]
