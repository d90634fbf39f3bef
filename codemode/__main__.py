"""`python -m codemode`: the same as the command `codemode`."""

from codemode.cli.main import main

if __name__ == "__main__":
    main()
