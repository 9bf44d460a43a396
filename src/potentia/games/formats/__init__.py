"""Games and worlds in files."""
