# SPDX-License-Identifier: Apache-2.0
"""How the report page looks, and the one thing it does: zooming a time chart zooms them all."""

CSS = """
:root { color-scheme: light;
  --ink: #1f2937; --soft: #6b7280; --line: #e5e7eb; --page: #f6f7f9; --bad: #b42318; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main { max-width: 1280px; margin: 0 auto; padding: 28px 24px 60px; }
h1 { font-size: 26px; margin: 0; }
h2 { font-size: 18px; margin: 0; }
.lead { color: var(--soft); margin: 2px 0 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr));
  gap: 12px; margin: 20px 0; }
.tile, section { background: #fff; border: 1px solid var(--line); border-radius: 10px; }
.tile { padding: 12px 16px; }
.tile b { display: block; font-size: 21px; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; }
section { padding: 18px 20px; margin: 0 0 18px; }
h3 { font-size: 15px; margin: 12px 0 0; }
section ul { margin: 6px 0 0; padding-left: 20px; }
section > p { color: var(--soft); margin: 2px 0 8px; }
.pair { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(520px, 100%), 1fr)); gap: 0 18px; }
.pair > section { min-width: 0; }
.deadlock { border-color: var(--bad); background: #fef3f2; color: var(--bad); font-weight: 600; }
.deadlock ol { margin: 8px 0 0; font-weight: 400; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--soft); font-weight: 600; border-bottom: 2px solid var(--line); }
th, td { padding: 5px 10px 5px 0; }
td { border-bottom: 1px solid var(--line); }
.number { text-align: right; }
.scroll { max-height: 480px; overflow: auto; }
.scroll th { position: sticky; top: 0; background: #fff; }
footer { color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
code { font: 13px ui-monospace, "Liberation Mono", monospace; }
"""

LINK_ZOOM = """
const charts = [...document.querySelectorAll('.over-time .plotly-graph-div')];
let busy = false;
for (const chart of charts) chart.on('plotly_relayout', change => {
  if (busy) return;
  const range = change['xaxis.autorange'] ? chart.layout.xaxis.range
    : 'xaxis.range[0]' in change ? [change['xaxis.range[0]'], change['xaxis.range[1]']] : null;
  if (!range) return;
  busy = true;
  const others = charts.filter(other => other !== chart);
  Promise.all(others.map(other => Plotly.relayout(other, {'xaxis.range': range})))
    .finally(() => { busy = false; });
});
"""
