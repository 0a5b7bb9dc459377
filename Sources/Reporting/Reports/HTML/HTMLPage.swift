// The frame of the HTML report, which is the same for every run. The page must work from a file,
// without a network, and show hostile names and logs as text: only its own script may run.

enum HTMLPage {
  /// The part before the title. The hash is that of the script below; a test recomputes it.
  static let beforeTitle: StaticString = #"""
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-8iAvrYGZ6693ews4B0KkE/BV+MuGwJtAU1omCgI4zc8='">
    <title>
    """#

  static let beforeTable: StaticString = #"""
    </title>
    <style>
    :root { color-scheme: light dark; --paper: #fff; --ink: #1c2330; --faint: #6b7585; --line: #dfe3ea;
      --card: #f5f7fa; --good: #2e9e5b; --bad: #d43d3d; --warn: #c98a13; --none: #98a2b3; --wait: #c9d3e6;
      --path: #3f6ad8; }
    @media (prefers-color-scheme: dark) { :root { --paper: #12161d; --ink: #e4e8ef; --faint: #8f9aab;
      --line: #2a313d; --card: #1a202a; --good: #43b874; --bad: #ef6a6a; --warn: #e0ab45; --none: #677385;
      --wait: #35415a; --path: #7fa0ff; } }
    * { box-sizing: border-box; }
    body { margin: 0 auto; max-width: 1200px; padding: 24px; background: var(--paper); color: var(--ink);
      font: 15px/1.45 system-ui, sans-serif; }
    h1 { margin: 0; font-size: 26px; } h2 { margin: 32px 0 8px; font-size: 17px; }
    .faint { color: var(--faint); } code, pre { font: 13px/1.45 ui-monospace, monospace; }
    .cards { display: flex; flex-wrap: wrap; gap: 12px; margin: 20px 0; }
    .card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 16px; }
    .card b { display: block; font-size: 21px; font-variant-numeric: tabular-nums; }
    .verdict { border-left: 6px solid var(--none); padding-left: 16px; overflow-wrap: anywhere; }
    .verdict.good { border-color: var(--good); } .verdict.bad { border-color: var(--bad); }
    .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
    svg { display: block; font: 11px system-ui, sans-serif; fill: var(--ink); }
    svg .bar { rx: 2px; } svg .good { fill: var(--good); } svg .bad { fill: var(--bad); } svg .none { fill: var(--none); }
    svg .wait { fill: var(--wait); } svg .path { stroke: var(--path); stroke-width: 2px; }
    svg .axis { stroke: var(--line); } svg .area { fill: var(--wait); } svg .faint { fill: var(--faint); }
    svg .edge { fill: none; stroke: var(--none); } svg .node { fill: var(--paper); stroke: var(--none); }
    svg .node.good { stroke: var(--good); } svg .node.bad { stroke: var(--bad); }
    table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
    th, td { text-align: left; padding: 5px 10px; border-bottom: 1px solid var(--line); vertical-align: top; }
    td { overflow-wrap: anywhere; } th button { all: unset; cursor: pointer; font-weight: 600; }
    th button:focus-visible, tr:focus-visible, input:focus-visible { outline: 2px solid var(--path); }
    th[aria-sort=ascending] button::after { content: " ▲"; } th[aria-sort=descending] button::after { content: " ▼"; }
    .number { text-align: right; white-space: nowrap; } tbody tr[tabindex] { cursor: pointer; }
    tbody tr[tabindex]:hover { background: var(--card); }
    .dot { display: inline-block; width: 10px; height: 10px; border-radius: 5px; margin-right: 7px; background: var(--none); }
    .dot.good { background: var(--good); } .dot.bad { background: var(--bad); } .dot.warn { background: var(--warn); }
    .tools { display: flex; flex-wrap: wrap; gap: 8px; margin-bottom: 8px; }
    input, select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
      border-radius: 6px; padding: 5px 10px; }
    pre { margin: 6px 0; padding: 10px; overflow-x: auto; background: var(--card); border: 1px solid var(--line);
      border-radius: 6px; max-height: 480px; }
    .since { margin: 0; padding: 10px 16px 10px 32px; } .slower { color: var(--bad); } .faster { color: var(--good); }
    @media print { body { max-width: none; } .tools { display: none; } pre { max-height: none; } }
    @media (max-width: 600px) { body { padding: 12px; } .wide { display: none; } }
    </style>
    <body>
    <main id="page"></main>
    <noscript><table><thead><tr><th>outcome<th>step<th>time<th>reason<tbody>

    """#

  static let beforeData: StaticString = #"""
    </table></noscript>
    <script type="application/json" id="run">
    """#

  static let beforeScript: StaticString = #"""
    </script>
    <script>
    """#

  static let end: StaticString = "</script>\n</body>\n</html>\n"
}
