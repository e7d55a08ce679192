"""`python -m setpoint` is the program `setpoint`."""

from setpoint.cli import main

if __name__ == "__main__":
    main()
