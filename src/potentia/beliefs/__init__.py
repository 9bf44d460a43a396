"""What players think the world is, where they do not know it."""
