/** Pictures and texts of plans: complete, bounded, and inert whatever the plan says (attack 63). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definePlan } from '../plan/define-plan.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import { arbitraryPlan } from '../run/arbitrary-plan.testkit.ts'
import { durationText } from './duration-text.ts'
import { layeredLayout } from './layered-layout.ts'
import { planMermaid } from './plan-mermaid.ts'
import { outlineOf } from './plan-outline.ts'
import { planSvg } from './plan-svg.ts'

const HOSTILE = [
  '<script>alert(1)</script>',
  '</text><foreignObject onload=x>',
  '"]\n  click a "javascript:alert(1)"',
  'x"] --> y["z',
  '%%{init: {"securityLevel": "loose"}}%%',
  '`**bold**` #60;b#62;',
  '\u001b[2J\u001b]0;title\u0007',
  '\u202egnp.exe\u2066',
  '&lt;b&gt; &#60; \u0000 \ufffe\uffff \ud800',
  ']]> <!-- --> <?xml ?>',
]

/** A plan that says this wherever a person writes something. */
function planOf(words: string): Plan {
  const text = words.slice(0, 200)
  const plan = {
    format: 'plan/1',
    name: 'hostile',
    version: '1',
    description: words,
    grants: [{ capability: 'a.b', only: { '/x': [{ prefix: words }, words] } }],
    nodes: {
      ask: { kind: 'approval', title: text, question: words, show: { [words]: words } },
      call: { kind: 'call', title: text, capability: 'a.b', input: words, fallback: [{ ask: words }] },
      code: { kind: 'program', source: words, file: undefined, input: { $eval: words, with: { a: words } } },
      all: {
        kind: 'each',
        over: { $value: words },
        most: 1,
        title: text,
        do: { nodes: { inner: { kind: 'wait', until: words } }, output: words },
      },
    },
    output: words,
  }
  return plan as unknown as Plan
}

/** Elements of an SVG, in a parser that knows nothing but tags, texts and entities: anything else is a failure. */
function elementsOf(svg: string): readonly string[] {
  const names: string[] = []
  const open: string[] = []
  let rest = svg
  while (rest !== '') {
    const tag = /^<(\/?)([a-zA-Z]+)((?: [a-zA-Z-]+="[^"<]*")*)(\/?)>/.exec(rest)
    const text = tag ? null : /^(?:[^<&]|&(?:amp|lt|gt|quot|#39|#96);)+/.exec(rest)
    const [whole = '', closing, name = '', attributes, empty] = tag ?? text ?? []
    if (whole === '') throw new Error(`Markup that nobody wrote: ${rest.slice(0, 80)}`)
    if (tag && closing === '/') expect(open.pop()).toBe(name)
    else if (tag) {
      names.push(name)
      expect(attributes).not.toMatch(/ (?:on[a-z]*|href|src|style)=/)
      if (empty !== '/') open.push(name)
    }
    rest = rest.slice(whole.length)
  }
  expect(open).toEqual([])
  return names
}

const ELEMENTS = new Set(['svg', 'title', 'desc', 'style', 'defs', 'marker', 'path', 'rect', 'g', 'text'])
/** Controls but for line ends and tabs, what turns or hides text, what is no character. */
const OBEYED = /[^\P{Cc}\n\t]|\p{Cs}|[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/u

describe('the picture of a plan', () => {
  it.each(HOSTILE)('is inert where the plan says %j', (words) => {
    const svg = planSvg(planOf(words))
    for (const name of elementsOf(svg)) expect(ELEMENTS).toContain(name)
    expect(svg).not.toMatch(OBEYED)
  })

  it('is inert for any text at all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (words) => {
        const svg = planSvg(planOf(words))
        for (const name of elementsOf(svg)) expect(ELEMENTS).toContain(name)
        expect(svg).not.toMatch(OBEYED)
      }),
      { numRuns: 40 },
    )
  })

  it('keeps the text of a node within its box, however wide its letters are', () => {
    const svg = planSvg(planOf('W'.repeat(200)))
    const texts = svg.slice(svg.indexOf('<rect class="card')).matchAll(/<text class="(\w+)[^>]*>|<(\/?)svg/g)
    let inside = -1
    for (const [, style, closing] of texts) {
      if (style === undefined) inside += closing === '/' ? -1 : 1
      else if (style !== 'kind') expect(inside).toBe(0)
    }
  })

  it('shows every node, and what the plan may do, in light and dark', () => {
    fc.assert(
      fc.property(arbitraryPlan(1), (plan) => {
        const svg = planSvg(definePlan(plan).plan)
        const ids = [...svg.matchAll(/<text class="id"[^>]*>([^<]*)</g)].map(([, id]) => id)
        expect(ids).toEqual(expect.arrayContaining(Object.keys(plan.nodes)))
        expect(svg).toContain('prefers-color-scheme:dark')
        expect(svg).toContain('>a.b</text>')
      }),
      { numRuns: 8 },
    )
  })

  it('stays small where everything waits for everything', () => {
    const ids = Array.from({ length: 200 }, (_, i) => `n${i}`)
    const nodes = Object.fromEntries(
      ids.map((id, i): [string, PlanNode] => [id, { kind: 'wait', forMs: 1, after: ids.slice(0, i) }]),
    )
    const chain = planSvg({ format: 'plan/1', name: 'chain', version: '1', nodes })
    // What follows from others is left out: a chain is a chain.
    expect(chain.match(/<path class="edge/g)?.length).toBe(199)
    const halves = Object.fromEntries(
      ids.map((id, i): [string, PlanNode] => [
        id,
        { kind: 'wait', forMs: 1, ...(i >= 100 && { after: ids.slice(0, 100) }) },
      ]),
    )
    const dense = planSvg({ format: 'plan/1', name: 'dense', version: '1', nodes: halves })
    expect(dense.match(/<path class="edge/g)?.length).toBe(3_000)
    expect(dense).toContain('and 7000 edges more')
  })
})

describe('the flowchart of a plan', () => {
  /** Every line is one that is written here, with a label of letters, digits, some marks and entities. */
  const LABEL = '(?:[\\p{L}\\p{N} .,:_-]|#\\d+;)*'
  const LINES = new RegExp(
    `^(?:flowchart TD| *(?:end|n[\\d_]+ (?:-->|-\\. chosen \\.->|-\\. failed \\.->) n[\\d_]+|subgraph n[\\d_]+\\["${LABEL}<br/>${LABEL}"\\]|n[\\d_]+(?:\\[|\\[\\[|\\[/|\\{|\\(\\[)"${LABEL}<br/>${LABEL}"(?:\\]|\\]\\]|/\\]|\\}|\\]\\))))$`,
    'u',
  )

  it.each(HOSTILE)('is inert where the plan says %j', (words) => {
    for (const line of planMermaid(planOf(words)).trimEnd().split('\n')) expect(line).toMatch(LINES)
  })

  it('has a line for every node and every edge', () => {
    fc.assert(
      fc.property(arbitraryPlan(2), (plan) => {
        const lines = planMermaid(plan).trimEnd().split('\n')
        for (const line of lines) expect(line).toMatch(LINES)
        expect(new Set(lines.filter((line) => /<br\/>/.test(line))).size).toBe(countOf(plan))
      }),
      { numRuns: 15 },
    )
  })
})

function countOf({ nodes }: Pick<Plan, 'nodes'>): number {
  return Object.values(nodes).reduce((sum, node) => {
    const inner = node.kind === 'plan' ? node.plan : 'do' in node ? node.do : undefined
    return sum + 1 + (inner === undefined ? 0 : countOf(inner))
  }, 0)
}

describe('the outline of a plan', () => {
  it('has every node after those that it waits for', () => {
    fc.assert(
      fc.property(arbitraryPlan(1), (plan) => {
        const { nodes } = outlineOf(plan)
        const ids = nodes.map(({ id }) => id)
        expect([...ids].sort()).toEqual(Object.keys(plan.nodes).sort())
        for (const [i, { before }] of nodes.entries())
          for (const { from } of before) expect(ids.indexOf(from)).toBeLessThan(i)
      }),
      { numRuns: 50 },
    )
  })
})

describe('a layout', () => {
  const boxes = fc
    .array(
      fc.record({
        width: fc.integer({ min: 10, max: 300 }),
        height: fc.integer({ min: 10, max: 200 }),
        before: fc.array(fc.nat(11), { maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 12 },
    )
    .map((all) => all.map((box, i) => ({ ...box, before: box.before.filter((from) => from < i) })))

  it('overlaps nothing, leads downwards, and is the same again', () => {
    fc.assert(
      fc.property(boxes, (all) => {
        const layout = layeredLayout(all)
        expect(layeredLayout(all)).toEqual(layout)
        const placed = all.map(({ width, height }, i) => ({
          width,
          height,
          ...(layout.boxes[i] as { x: number; y: number }),
        }))
        for (const [i, a] of placed.entries()) {
          expect(a.x).toBeGreaterThanOrEqual(-0.001)
          expect(a.x + a.width).toBeLessThanOrEqual(layout.width + 0.001)
          expect(a.y + a.height).toBeLessThanOrEqual(layout.height + 0.001)
          for (const b of placed.slice(i + 1)) {
            const apart =
              a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y
            expect(apart).toBe(true)
          }
          for (const from of all[i]?.before ?? []) expect(placed[from]?.y).toBeLessThan(a.y)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('draws what follows from other edges only where it is told to', () => {
    const box = { width: 10, height: 10 }
    const chain = [
      { ...box, before: [] },
      { ...box, before: [0] },
      { ...box, before: [0, 1] },
    ]
    expect(layeredLayout(chain).edges.length).toBe(2)
    expect(layeredLayout(chain.map((one, i) => (i === 2 ? { ...one, always: [0] } : one))).edges.length).toBe(
      3,
    )
  })
})

describe('a length of time', () => {
  it.each([
    [0, '0 ms'],
    [1, '1 ms'],
    [1_500, '1 s 500 ms'],
    [60_000, '1 min'],
    [5_400_000, '1 h 30 min'],
    [86_400_001, '1 d'],
  ])('of %i ms reads %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })
})
