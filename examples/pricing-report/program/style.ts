/** The style sheet of the page: it needs nothing from elsewhere, and prints. */
export const STYLE = `:root { --page: #f6f6f3; --card: #fff; --ink: #1c1d1a; --soft: #63665f; --line: #e3e3dd; --up: #b8480f; --down: #1f6a8c; --same: #a3a69d; }
@media (prefers-color-scheme: dark) {
  :root { --page: #151614; --card: #1e201d; --ink: #eceee8; --soft: #a0a49a; --line: #33362f; --up: #f0925a; --down: #69b7dc; --same: #72766c; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 3.5rem 1.25rem 5rem; }
h1 { margin: .3rem 0 .6rem; font-size: clamp(1.9rem, 5vw, 2.9rem); line-height: 1.1; letter-spacing: -.025em; }
h2 { margin: 0 0 .2rem; font-size: 1.1rem; letter-spacing: -.01em; }
p { margin: 0; }
.eyebrow, .lead, .caption, small, footer { color: var(--soft); }
.eyebrow { font-size: .9rem; }
.lead { max-width: 44rem; font-size: 1.08rem; }
.caption { margin-bottom: 1rem; font-size: .92rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 1px; margin: 2rem 0; overflow: hidden; background: var(--line); border: 1px solid var(--line); border-radius: 12px; }
.tile { display: grid; padding: 1rem 1.15rem; background: var(--card); }
.tile span { color: var(--soft); font-size: .88rem; }
.tile strong { font-size: 1.7rem; font-weight: 600; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.card { margin-bottom: 1.25rem; padding: 1.4rem 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 1.25rem; }
.scroll { overflow-x: auto; }
svg { display: block; width: 100%; min-width: 34rem; height: auto; font: 14px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: var(--ink); }
svg rect.up { fill: var(--up); } svg rect.down { fill: var(--down); } svg rect.same { fill: var(--same); }
svg .axis { stroke: var(--same); stroke-width: 1; }
svg .value { font-weight: 600; font-variant-numeric: tabular-nums; }
svg .count, svg .tick { fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
table { width: 100%; border-collapse: collapse; font-size: .93rem; }
th { color: var(--soft); font-weight: 500; font-size: .85rem; text-align: left; white-space: nowrap; }
th, td { padding: .45rem .5rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
tbody tr:last-child td { border-bottom: 0; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.up { color: var(--up); font-weight: 600; } td.down { color: var(--down); font-weight: 600; }
td small { display: block; font-size: .82rem; }
summary { cursor: pointer; font-weight: 600; }
summary small { font-weight: 400; font-size: .92rem; }
details table { margin-top: 1rem; }
tr.group td { padding-top: 1.1rem; font-weight: 600; }
ul { margin: .4rem 0 0; padding-left: 1.1rem; }
li { overflow-wrap: anywhere; }
footer { margin-top: 2rem; font-size: .88rem; }
@media print { .card, .tiles { break-inside: avoid; } body { background: none; } }`
