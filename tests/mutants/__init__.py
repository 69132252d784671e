"""Small faults, put into the library one at a time, that its tests should notice.

`python -m mutants --help` in the folder `tests` says how to try some.
"""
