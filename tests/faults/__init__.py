"""Crash tests: every system call that writes is made to fail once, and what is then on disk is looked at."""
