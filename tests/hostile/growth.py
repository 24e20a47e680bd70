"""How the work of each command grows with long lists."""


def main() -> int:
    return 0
