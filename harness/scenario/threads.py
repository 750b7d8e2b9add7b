"""Numbers of threads in words."""


def in_words(fewest: int, most: int) -> str:
    """``2 threads``, ``2 to 8 threads``."""
    return f"{fewest} thread{'s' * (fewest != 1)}" if fewest == most else f"{fewest} to {most} threads"
