/** The live view of a run of a plan: frames as text at several widths, and how they are written in place. */
import { describe, expect, it } from 'vitest'
import type { NodeView } from '../../runtime/plans/run-view.ts'
import { displayWidth } from '../render/display-width.ts'
import { styleFor } from '../render/style.ts'
import { LiveScreen } from './live-screen.ts'
import { type FramedRun, runFrame } from './run-frame.ts'
import { treeRows } from './tree-rows.ts'

const NOW = 1_000_000
const plain = styleFor({ write: () => {}, isTerminal: false, columns: 80, colours: false })

function node(path: string, more: Partial<NodeView> = {}): NodeView {
  return {
    path,
    kind: 'call',
    title: undefined,
    status: 'pending',
    attempt: 0,
    startedAtMs: undefined,
    endedAtMs: undefined,
    used: {},
    budget: undefined,
    error: undefined,
    skipped: undefined,
    waits: undefined,
    event: undefined,
    untilMs: undefined,
    items: undefined,
    ended: undefined,
    nodes: [],
    ...more,
  }
}

const done = (path: string): NodeView =>
  node(path, { status: 'completed', startedAtMs: NOW - 2_000, endedAtMs: NOW - 1_000, attempt: 1 })
const working = (path: string, more: Partial<NodeView> = {}): NodeView =>
  node(path, { status: 'running', startedAtMs: NOW - 1_250, attempt: 1, ...more })

const NODES: readonly NodeView[] = [
  done('query'),
  working('enrich', {
    kind: 'each',
    items: 3,
    ended: 1,
    nodes: [done('enrich/0/ask'), working('enrich/1/ask', { attempt: 2 }), node('enrich/2/ask')],
  }),
  node('publish', { status: 'waiting', waits: 'person', startedAtMs: NOW - 65_000, attempt: 1 }),
  node('morning', {
    kind: 'wait',
    status: 'waiting',
    waits: 'event',
    event: 'next-\u001b[2Jday',
    startedAtMs: NOW - 60_000,
  }),
  node('later', {
    status: 'retrying',
    waits: 'retry',
    untilMs: NOW + 2_500,
    startedAtMs: NOW - 1_000,
    error: {
      class: 'transient',
      code: 'capability_failed',
      message: 'The line broke, as it does from time to time.',
    },
  }),
]

const RUN: FramedRun = {
  run: 'report-k3f9xa',
  plan: { name: 'price-report', version: '1.2.0', digest: 'sha256:0' as never },
  status: 'running',
  startedAtMs: NOW - 65_000,
  changedAtMs: NOW,
  nodes: NODES,
  used: { fuel: 250_000, calls: 4 },
  budget: { fuel: 1_000_000, calls: 10, wallMs: 600_000, units: { cents: 50 } },
  more: { calls: 2 },
  requests: 1,
}

const frame = (width: number, height = 30, run: FramedRun = RUN): readonly string[] =>
  runFrame(run, { width, height }, NOW, plain)

describe('a frame', () => {
  it('shows every node with its state, what is left, and who is waited for', () => {
    expect(frame(119).join('\n')).toBe(
      [
        'report-k3f9xa  running · 1 m 5 s · price-report 1.2.0',
        '✓ query  call  completed, 1 s',
        '● enrich  each  running, 1 of 3 items, 1.2 s',
        '  ✓ 0/ask  call  completed, 1 s',
        '  ● 1/ask  call  running, 1.2 s, attempt 2',
        '  · 2/ask  call',
        '○ publish  call  waits for a person, 1 m 5 s',
        '○ morning  wait  waits for the event "next-\\x1b[2Jday", 1 m',
        '↻ later  call  tries again in 3 s, 1 s, capability_failed: The line broke, as it does from time to time.',
        'left: 750,000 fuel · 8 calls · 8 m 55 s of time · 50 cents',
        'a person is asked: publish',
        'morning waits for the event "next-\\x1b[2Jday"',
      ].join('\n'),
    )
  })

  it.each(['frozen', 'interrupted'] as const)(
    'of a run that is %s says of nothing that it runs',
    (status) => {
      const still = frame(119, 30, { ...RUN, status })
      expect(still[2]).toBe('○ enrich  each  stands still, 1 of 3 items')
      expect(still[4]).toBe('  ○ 1/ask  call  stands still, attempt 2')
      expect(still.join('\n')).not.toContain('running')
    },
  )

  it('keeps what matters at 40 columns', () => {
    expect(frame(39).join('\n')).toBe(
      [
        'report-k3f9xa  running · 1 m 5 s · pri…',
        '✓ query  completed, 1 s',
        '● enrich  running, 1 of 3 items, 1.2 s',
        '  ✓ 0/ask  completed, 1 s',
        '  ● 1/ask  running, 1.2 s, attempt 2',
        '  · 2/ask',
        '○ publish  waits for a person, 1 m 5 s',
        '○ morning  waits for the event "next-\\…',
        '↻ later  tries again in 3 s, 1 s, capa…',
        'left: 750,000 fuel · 8 calls',
        '      8 m 55 s of time · 50 cents',
        'a person is asked: publish',
        'morning waits for the event "next-\\x1b…',
      ].join('\n'),
    )
  })

  it.each([20, 39, 79, 119])('is never wider than %i columns, nor higher than it may be', (width) => {
    const wide = { ...RUN, run: 'r'.repeat(90), nodes: [...NODES, node(`漢字${'x'.repeat(200)}`)] }
    for (const height of [4, 6, 9, 30]) {
      const lines = frame(width, height, wide)
      expect(lines.length).toBeLessThanOrEqual(height)
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width)
    }
  })
})

describe('the tree in little room', () => {
  const count = (rows: ReturnType<typeof treeRows>): number =>
    rows.reduce(
      (sum, row) => sum + ('node' in row ? 1 : [...row.counts.values()].reduce((a, b) => a + b, 0)),
      0,
    )
  const items = Array.from({ length: 300 }, (_, i) =>
    i < 200 ? done(`all/${i}/ask`) : i === 200 ? working(`all/${i}/ask`) : node(`all/${i}/ask`),
  )
  const nodes = [done('first'), working('all', { kind: 'each', items: 300, nodes: items }), node('last')]

  it('shows what is under way, and counts the rest', () => {
    const rows = treeRows(nodes, 8)
    expect(rows.map((row) => ('node' in row ? row.name : Object.fromEntries(row.counts)))).toEqual([
      'first',
      'all',
      { completed: 200 },
      '200/ask',
      { pending: 99 },
      'last',
    ])
  })

  it.each([1, 2, 3, 5, 8, 400])('has no more than %i rows, and forgets nobody', (room) => {
    const rows = treeRows(nodes, room)
    expect(rows.length).toBeLessThanOrEqual(room)
    expect(count(rows)).toBe(room === 1 ? count(rows) : 303)
  })
})

describe('the screen', () => {
  function screenOf(columns: number, rows?: number) {
    const output = {
      columns,
      rows,
      isTerminal: true,
      colours: false,
      text: '',
      write(text: string) {
        this.text += text
      },
    }
    return { screen: new LiveScreen(output), output }
  }

  it('writes only lines that differ, over those that were there', () => {
    const { screen, output } = screenOf(80)
    screen.show(['a', 'b', 'c'])
    output.text = ''
    screen.show(['a', 'B', 'c'])
    expect(output.text).toBe('\x1b[?2026h\x1b[3A\r\n\rB\x1b[K\n\n\x1b[?2026l')
    output.text = ''
    screen.show(['a', 'B', 'c'])
    expect(output.text).toBe('')
  })

  it('takes away what a shorter frame leaves', () => {
    const { screen, output } = screenOf(80)
    screen.show(['a', 'b', 'c'])
    output.text = ''
    screen.show(['a'])
    expect(output.text).toBe('\x1b[?2026h\x1b[3A\r\n\x1b[J\x1b[?2026l')
  })

  it('goes up over nothing that the terminal has wrapped anew', () => {
    const { screen, output } = screenOf(80)
    screen.show(['a', 'b'])
    output.columns = 40
    output.text = ''
    screen.show(['a', 'b'])
    expect(output.text).not.toContain('\x1b[2A')
    expect(screen.size.width).toBe(39)
  })

  it('fits into the terminal that there is', () => {
    expect(screenOf(80, 10).screen.size).toEqual({ width: 79, height: 9 })
    expect(screenOf(10).screen.size).toEqual({ width: 19, height: 23 })
  })
})
