"""The reproduction: what the paper plays and claims, played again, judged and reported."""
