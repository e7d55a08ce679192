"""`python -m benchmarks`."""

import signal
import sys

from benchmarks.command import main

signal.signal(signal.SIGTERM, signal.default_int_handler)  # the servers end with it however it is stopped
sys.exit(main())
