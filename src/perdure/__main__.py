"""``python -m perdure`` is the command ``perdure``."""

from perdure.interfaces.entry import main

if __name__ == "__main__":
    main()
