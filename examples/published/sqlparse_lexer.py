"""The lexer of sqlparse, made at the first use: a thread that came meanwhile got it empty. Repaired in 0.5.0 (issue 730)."""

import threading

import sqlparse

STATEMENTS = ("select 1", "select 2")


def format_one(text: str) -> None:
    formatted.append(sqlparse.format(text, keyword_case="upper"))


formatted: list[str] = []

if __name__ == "__main__":
    threads = [threading.Thread(target=format_one, args=(text,)) for text in STATEMENTS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(formatted) == ["SELECT 1", "SELECT 2"], formatted
