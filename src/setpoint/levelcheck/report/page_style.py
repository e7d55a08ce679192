"""How a report's page looks, by day and by night."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --dim: #667085; --paper: #fff; --band: #f4f6f9; --line: #d9dee7;
  --bad: #b42318; --bad-band: #fdecea; --good: #067647; --unsure: #93590a; --mark: #6941c6; --mark-band: #f3eefe; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ec; --dim: #98a2b3; --paper: #14181f; --band: #1c222c; --line: #323a47;
  --bad: #ff8d80; --bad-band: #3a1c1c; --good: #5fd39a; --unsure: #f0b860; --mark: #c3aaff; --mark-band: #2a2145; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 110rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { margin: 0; font-size: 1.35rem; line-height: 1.35; } h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; }
h3 { margin: 0 0 .25rem; font-size: .95rem; }
p { margin: .25rem 0; } .dim { color: var(--dim); font-weight: normal; }
header { border-left: 5px solid var(--unsure); padding-left: 1rem; }
.verdict { margin: 0; font-weight: 700; letter-spacing: .05em; color: var(--unsure); }
header.refuted, header.path-dependent { border-color: var(--bad); } header.held { border-color: var(--good); }
.refuted .verdict, .path-dependent .verdict { color: var(--bad); } .held .verdict { color: var(--good); }
code, pre { font: 12.5px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; } pre { margin: .25rem 0; white-space: pre-wrap; }
.command { display: block; padding: .4rem .6rem; background: var(--band); overflow-wrap: anywhere; border-radius: 4px; }
.scroll { overflow-x: auto; margin: .5rem 0 1rem; } table { border-collapse: collapse; }
th, td { padding: .25rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-size: .85rem; color: var(--dim); }
.timeline { width: 100%; font-size: 13px; line-height: 1.4; } .timeline td { min-width: 6rem; overflow-wrap: anywhere; }
.timeline td.controller { min-width: 11rem; } .timeline td.user, .timeline td.store { min-width: 9rem; }
.timeline td:first-child, .timeline td.other { min-width: 3.5rem; color: var(--dim); font-variant-numeric: tabular-nums;
overflow-wrap: normal; }
.timeline .other { border-left: 2px solid var(--line); } td.cache { color: var(--dim); } td.none { background: var(--band); opacity: .5; }
tr.decision > td { background: var(--mark-band); } tr.decision > .wide { font-weight: 600; color: var(--mark); }
tr.decision > .wide::before { content: "\\26A1\\00A0"; }
tr.start > td.controller { color: var(--mark); } tr.finding > td { background: var(--bad-band); }
tr.finding > .wide { font-weight: 600; color: var(--bad); }
tr.divergence > td, tr.missing > td { border-top: 2px solid var(--bad); }
tr.divergence > td.store::after { content: "\\2190\\00A0the reference goes another way from here"; color: var(--bad); }
tr.missing > td.store::after { content: "\\2190\\00A0this never happens in the other run"; color: var(--bad); }
tr.minor { display: none; } .all:checked ~ .scroll tr.minor { display: table-row; opacity: .75; }
.all + label { margin-left: .4rem; color: var(--dim); font-size: .9rem; }
summary { cursor: pointer; } .removed { color: var(--bad); } .added { color: var(--good); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem 2rem; }
.facts > div { border-top: 1px solid var(--line); padding-top: .5rem; }
"""
"""The style sheet of the page."""
