"""A program as it is, without a scenario: two threads count, and an addition is lost where one comes between."""

import threading

total = 0


def successor(value: int) -> int:
    return value + 1


def count() -> None:
    global total
    seen = total
    total = successor(seen)


def main() -> None:
    threads = [threading.Thread(target=count) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("counted", total)
    raise SystemExit(total != 2)


if __name__ == "__main__":
    main()
