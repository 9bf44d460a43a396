"""Speed and memory, side by side with peers, with C and with what the machine allows.

``python -m benchmarks --out out/bench.json`` measures everything, prints one table and writes every number.
Each module says what it compares and why that is like for like.
"""
