"""Does the test suite have teeth? Faults are planted one at a time, and those that a test catches are counted.

The faults are in ``faults.toml``: slips that a person makes, each as a text of the sources and what it becomes. First
the tests run once in plain Python, where kernels are visible, to learn which of them reach which line; that is kept in
``out/mutants`` until sources or tests change. Then each fault is planted in a copy of the tree, and the tests that
reach it run there, fast and specific ones first, until one fails or a minute is over. Controls are changes that change
nothing: a test that fails there is wrong itself.

Left out are tests that start processes, play long or fail in plain Python by themselves, and lines reached only in
child processes; a fault may name tests for them. Exit code 1 where fewer than 90 % are caught, or a control is.

    python -m benchmarks.mutants                         all of them
    python -m benchmarks.mutants --only kernel-purpose   one of them; may be given several times
    python -m benchmarks.mutants --tree ../before        the same faults in another checkout, with its tests
    python -m benchmarks.mutants --map-only              which tests reach which line, and no faults
"""
