"""The scenarios that come with the harness: one file each, ``SCENARIO`` in it."""
