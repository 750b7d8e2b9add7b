"""Each body in a process of its own: no thread shares anything with another.

Not a context manager: the run itself is made differently. The baton goes over pipes, the same schedule is driven, and
the access log says which process touched what.
"""

PROCESSES = True
