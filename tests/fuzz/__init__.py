"""Damaged and forged files for every reader: a file is read, or refused in one line; never a traceback, never a hang.

``python -m tests.fuzz --help`` says how to run it; ``readers.py`` is the table of what is read.
"""
