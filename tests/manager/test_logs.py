"""Logs are JSON lines, but for people on a terminal."""

import io
import json
import logging

from setpoint.manager.logs import configure


def logged(terminal: bool) -> str:
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    logger = logging.getLogger("setpoint.controller")
    handler = configure(stream)
    try:
        logger.info("hello %s", "you", extra={"controller": "webapp", "request": "default/shop"})
        logger.debug("not shown")
        try:
            raise ValueError("boom")
        except ValueError:
            logger.exception("failed")
    finally:
        logging.getLogger("setpoint").removeHandler(handler)
    return stream.getvalue()


def test_json_lines_hold_the_bound_fields_and_the_traceback():
    first, second = map(json.loads, logged(terminal=False).splitlines())
    assert first["msg"] == "hello you"
    assert (first["level"], first["logger"]) == ("info", "setpoint.controller")
    assert (first["controller"], first["request"]) == ("webapp", "default/shop")
    assert first["ts"].endswith("Z")
    assert "ValueError: boom" in second["error"]


def test_people_read_the_text_and_the_fields():
    text = logged(terminal=True)
    assert "hello you" in text
    assert "controller=webapp" in text
    assert "ValueError: boom" in text
    assert not text.lstrip().startswith("{")
