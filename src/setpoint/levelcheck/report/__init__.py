"""How a check is told: in words for a terminal, as a page with lanes, as data, as a token that replays it, as a test that keeps it mended.

`rows` puts what happened into lanes, `trace` chooses those few rows that tell a finding, and `divergence` is where a run first leaves its
reference; `text`, `page` and `document` show them. `suggestion` knows what mends a finding, `token` and `regression` bring it back.
"""
