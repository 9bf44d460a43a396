"""Dataset in, figure out; never simulates."""
