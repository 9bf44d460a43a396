"""The reproduction: what the paper plays and claims, played again and judged."""
