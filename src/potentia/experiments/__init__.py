"""Studies made of runs."""
