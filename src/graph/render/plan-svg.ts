/**
 * A plan as a picture: nodes in layers from top to bottom, scopes inside of nodes as boxes, what waits for what as
 * curves, and above all of it what the plan may do.
 *
 * Invariants
 * 1. The picture is inert: no script, no link, no address, nothing that is fetched; texts of the plan are only texts.
 * 2. No text of a node reaches out of its box.
 * 3. It reads in light and dark, and says in words that it is a plan.
 */
import { clipText, escapeHtml } from '../../base/escape-text.ts'
import type { Plan } from '../plan/plan.ts'
import { layeredLayout } from './layered-layout.ts'
import { authorityOf, type NodeOutline, outlineOf, type ScopeOutline } from './plan-outline.ts'

const PAD = 24
const CARD_PAD = 14
const LINE = 19
const NARROWEST = 150
const WIDEST = 320

/** What of a node's facts is worth a line in a picture. */
const TOLD: ReadonlySet<string> = new Set([
  'may call',
  'may spend',
  'tries',
  'or else',
  'undone by',
  'within',
  'runs',
  'takes',
  'else',
])

/** @param plan checked. @returns one `svg` element */
export function planSvg(plan: Plan): string {
  const graph = drawScope(outlineOf(plan))
  const inner = Math.max(graph.width, 420)
  const head = [
    textLine(0, 18, 'name', `${plan.name} ${plan.version}`, inner),
    ...wrapped(plan.description ?? '', 'soft', inner, 3).map(({ text }, i) =>
      textLine(0, 42 + i * LINE, 'soft', text, inner),
    ),
  ]
  let y = 18 + 24 + (head.length - 1) * LINE
  let told = ''
  for (const [label, text] of authorityOf(plan).slice(0, MOST_AUTHORITY)) {
    const lines = wrapped(text, 'mono', inner - 90, 4)
    if (label !== told) head.push(textLine(0, y, 'soft', label, 90))
    told = label
    for (const line of lines) {
      head.push(textLine(90, y, 'mono', line.text, inner - 90))
      y += LINE
    }
  }
  y += 10
  const width = Math.ceil(inner + 2 * PAD)
  const height = Math.ceil(y + graph.height + 2 * PAD)
  const title = `The plan ${plan.name} ${plan.version}`
  const words = `${title}: ${plan.description ?? 'its nodes, and which of them wait for which.'}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="plan-title plan-text">`,
    `<title id="plan-title">${safe(title)}</title>`,
    `<desc id="plan-text">${safe(clipText(words, 500))}</desc>`,
    `<style>${STYLE}</style>`,
    `<defs><marker id="plan-tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6.5" markerHeight="6.5" orient="auto"><path class="tip" d="M0 0 10 5 0 10z"/></marker></defs>`,
    `<rect class="paper" width="${width}" height="${height}" rx="12"/>`,
    `<g transform="translate(${PAD} ${PAD})">`,
    ...head,
    at((inner - graph.width) / 2, y, graph.svg),
    '</g></svg>',
  ].join('\n')
}

const MOST_AUTHORITY = 40

interface Drawing {
  readonly svg: string
  readonly width: number
  readonly height: number
}

function drawScope({ nodes }: ScopeOutline): Drawing {
  const cards = nodes.map(drawNode)
  const index = new Map(nodes.map(({ id }, i) => [id, i]))
  const layout = layeredLayout(
    nodes.map(({ before }, i) => ({
      width: cards[i]?.width ?? 0,
      height: cards[i]?.height ?? 0,
      before: before.map(({ from }) => index.get(from) ?? 0),
      always: before.flatMap(({ from, kind }) => (kind === 'order' ? [] : [index.get(from) ?? 0])),
    })),
  )
  const kinds = new Map(
    nodes.flatMap(({ id, before }) => before.map(({ from, kind }) => [`${from} ${id}`, kind] as const)),
  )
  const edges = layout.edges.map(({ from, to, path }) => {
    const kind = kinds.get(`${nodes[from]?.id} ${nodes[to]?.id}`) ?? 'order'
    return `<path class="edge ${kind}" d="${path}" marker-end="url(#plan-tip)"/>`
  })
  const placed = cards.map(({ svg }, i) => at(layout.boxes[i]?.x ?? 0, layout.boxes[i]?.y ?? 0, svg))
  const left =
    layout.left > 0 ? [textLine(0, layout.height + 22, 'soft', `and ${layout.left} edges more`, 200)] : []
  return {
    svg: [...edges, ...placed, ...left].join('\n'),
    width: layout.width,
    height: layout.height + (left.length > 0 ? 30 : 0),
  }
}

interface Line {
  readonly style: string
  readonly text: string
}

function drawNode(node: NodeOutline): Drawing {
  const { id, kind, title, does, facts, inner } = node
  const told = facts.filter(([label]) => TOLD.has(label))
  const lines: Line[] = [
    { style: 'id', text: id },
    ...wrapped(title ?? '', 'plain', WIDEST - 2 * CARD_PAD, 2),
    ...wrapped(does, kind === 'approval' ? 'plain' : 'mono', WIDEST - 2 * CARD_PAD, 3),
    ...told
      .slice(0, 6)
      .flatMap(([label, text]) => wrapped(`${label} ${text}`, 'soft', WIDEST - 2 * CARD_PAD, 2)),
    ...(told.length > 6 ? [{ style: 'soft', text: `and ${told.length - 6} more` }] : []),
  ]
  const within = inner === undefined ? undefined : drawScope(inner)
  const idWidth = widthOf({ style: 'id', text: id }) + widthOf({ style: 'kind', text: kind }) + 18
  const wanted = Math.max(NARROWEST, idWidth, ...lines.map(widthOf)) + 2 * CARD_PAD
  const width = Math.ceil(
    Math.max(Math.min(WIDEST, wanted), idWidth + 2 * CARD_PAD, (within?.width ?? 0) + 2 * CARD_PAD),
  )
  const room = width - 2 * CARD_PAD
  const textHeight = 12 + lines.length * LINE
  const height = textHeight + (within === undefined ? 6 : within.height + 12 + CARD_PAD)
  const parts = [
    `<rect class="card ${kind}${inner === undefined ? '' : ' holds'}" width="${width}" height="${height}" rx="9"/>`,
    `<text class="kind ${kind}" x="${width - CARD_PAD}" y="24">${kind}</text>`,
    // A picture of its own cuts what is wider than it was taken for: no text of a node lies over another one.
    `<svg width="${width - CARD_PAD / 2}" height="${height}">`,
    ...lines.map(({ style, text }, i) => textLine(CARD_PAD, 24 + i * LINE, style, text, room)),
    '</svg>',
    ...(within === undefined ? [] : [at((width - within.width) / 2, textHeight + 12, within.svg)]),
  ]
  return { svg: parts.join(''), width, height }
}

function at(x: number, y: number, svg: string): string {
  return `<g transform="translate(${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10})">${svg}</g>`
}

function textLine(x: number, y: number, style: string, text: string, room: number): string {
  return `<text class="${style}" x="${x}" y="${y}">${safe(fitted(text, style, room))}</text>`
}

const NARROW = 7
/** Pixels of a character of Latin script on average, by style; of one that is wide, twice as many. */
const CHARACTER: Readonly<Record<string, number>> = { name: 10.4, id: 8.3, mono: 7.5, kind: 6.4 }
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{3fffd}]/u

function widthOf({ style, text }: Line): number {
  const unit = CHARACTER[style] ?? NARROW
  let width = 0
  // Escapes take more room than what they stand for.
  for (const character of shownText(text.slice(0, 1_000))) width += WIDE.test(character) ? 2 * unit : unit
  return width
}

function fitted(text: string, style: string, room: number): string {
  if (widthOf({ style, text }) <= room) return text
  const characters = [...text.slice(0, 1_000)]
  while (characters.length > 1 && widthOf({ style, text: `${characters.join('')}…` }) > room)
    characters.length = Math.max(1, Math.min(characters.length - 1, Math.floor(characters.length * 0.95)))
  return `${characters.join('')}…`
}

/** Lines of text that fit; what is left over is cut by the last of them. */
function wrapped(text: string, style: string, room: number, most: number): readonly Line[] {
  const columns = Math.max(10, Math.floor(room / (CHARACTER[style] ?? NARROW)))
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line === '' || lines.length === most - 1 || line.length + word.length < columns)
      line = line === '' ? word : `${line} ${word}`
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line].filter((one) => one !== '').map((one) => ({ style, text: one }))
}

/** Never a character that XML does not know. */
function shownText(text: string): string {
  return text.replace(/[\ufffe\uffff]/g, '\ufffd')
}

function safe(text: string): string {
  return escapeHtml(shownText(text))
}

const STYLE = `
svg{--paper:#fff;--ink:#1b2430;--soft:#5a6673;--line:#aab4bf;--card:#fff;--program:#0b6b62;--program-fill:#ebf7f5;--call:#9a4d06;--call-fill:#fdf4e8;--approval:#9d2f5f;--approval-fill:#fcf0f5;--choice:#1f5fa8;--choice-fill:#eef4fb;--holds:#5b4a9c;--holds-fill:#f7f6fc;--wait:#5a6673;--wait-fill:#f4f6f8}
@media (prefers-color-scheme:dark){svg{--paper:#12171d;--ink:#e7ecf1;--soft:#a2aebb;--line:#5a6877;--card:#12171d;--program:#67cfc0;--program-fill:#14262a;--call:#f2b765;--call-fill:#2a2115;--approval:#f08fb5;--approval-fill:#2c1822;--choice:#86b9f0;--choice-fill:#17222f;--holds:#b5a6f0;--holds-fill:#191824;--wait:#a2aebb;--wait-fill:#1c232b}}
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;fill:var(--ink)}
.name{font-size:19px;font-weight:650}.id{font-size:14px;font-weight:650}
.soft{fill:var(--soft);font-size:12.5px}.mono{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.kind{font-size:11.5px;text-anchor:end}
.paper{fill:var(--paper)}.tip{fill:var(--soft)}
.card{stroke-width:1.25;fill:var(--card);stroke:var(--line)}
.card.program{fill:var(--program-fill);stroke:var(--program)}text.program{fill:var(--program)}
.card.call{fill:var(--call-fill);stroke:var(--call)}text.call{fill:var(--call)}
.card.approval{fill:var(--approval-fill);stroke:var(--approval)}text.approval{fill:var(--approval)}
.card.choice{fill:var(--choice-fill);stroke:var(--choice)}text.choice{fill:var(--choice)}
.card.wait{fill:var(--wait-fill);stroke:var(--wait)}text.wait{fill:var(--wait)}
.card.holds{fill:var(--holds-fill);stroke:var(--holds);stroke-dasharray:5 3}text.each,text.loop,text.plan{fill:var(--holds)}
.edge{fill:none;stroke:var(--line);stroke-width:1.75}.edge.choice{stroke:var(--choice);stroke-dasharray:6 4}.edge.fallback{stroke:var(--call);stroke-dasharray:2 4}
`
