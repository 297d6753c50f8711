import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RateWindow } from '../../capability/rate-window.ts'
import { definePlan } from '../plan/define-plan.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import { placeOf, rightsAt } from '../plan/rights-at.ts'
import { Reserve } from './budgets.ts'
import type { NodeState } from './node-state.ts'
import { Purse, type PurseOptions, type PurseRun } from './purse.ts'
import type { RecordedEvent, RunEvent } from './run-event.ts'
import { RunState } from './run-state.ts'

const NOTHING = { value: null }
const DIGEST = `sha256:${'0'.repeat(64)}` as never
const program = (grants: unknown, more: object = {}): PlanNode =>
  ({ kind: 'program', source: 'return 1', grants, ...more }) as PlanNode
const each = (nodes: Record<string, PlanNode>, more: object = {}): PlanNode =>
  ({ kind: 'each', over: [1, 2, 3], most: 3, concurrency: 3, do: { nodes }, ...more }) as PlanNode

function planOf(nodes: Record<string, PlanNode>, more: Partial<Plan> = {}): Plan {
  return definePlan({ format: 'plan/1', name: 'p', version: '1', grants: ['a.b'], nodes, ...more }).plan
}

/** One process that goes on with a run. */
class Process implements PurseRun {
  readonly state: RunState
  readonly reserve = new Reserve()
  readonly rates = new Map<string, RateWindow>()
  readonly events: RecordedEvent[]
  nowMs: number
  readonly now = (): number => this.nowMs

  constructor(plan: Plan, events: readonly RecordedEvent[] = [], nowMs = 1_000) {
    this.state = new RunState(plan)
    this.nowMs = nowMs
    this.events = []
    for (const event of events) this.note(event)
    if (events.length > 0) return
    this.emit(
      { type: 'proposed', format: 'run/1', id: 'r', tools: {}, plan: DIGEST, input: NOTHING, by: 'x' },
      { type: 'approved', request: DIGEST, by: 'x' },
      { type: 'started', by: 'x', atMs: 0 },
    )
  }

  emit(...events: readonly RunEvent[]): void {
    for (const event of events) this.note({ ...event, timeMs: this.nowMs })
  }

  note(event: RecordedEvent): void {
    this.state.apply(event)
    this.events.push(event)
  }

  begin(...paths: readonly string[]): void {
    for (const node of paths) this.emit({ node, type: 'node_started', attempt: 1, input: NOTHING })
  }

  node(path: string): NodeState {
    return this.state.node(path) as NodeState
  }

  purse(path: string, options: PurseOptions = {}): Purse {
    const node = this.node(path)
    return new Purse(this, node, path, { counted: node.counted, ...options })
  }

  /** Whoever goes on has what was written down, and nothing else. */
  dies(passedMs = 0): Process {
    return new Process(this.state.plan, this.events, this.nowMs + passedMs)
  }
}

const take = (purse: Purse, cents?: number, bytesOut = 1): string =>
  purse.reserve({ capability: 'a.b', call: 1, bytesOut, cost: cents === undefined ? undefined : { cents } })
    ?.code ?? 'ok'

describe('rights at a place', () => {
  it('are those of the node and of every plan around it, whatever the number of the item', () => {
    const inner = { ...planOf({ work: program(['a.b']) }), grants: [{ capability: 'a.b', calls: 5 }] }
    const plan = planOf({ all: each({ part: { kind: 'plan', plan: inner } as PlanNode }) })
    expect(rightsAt(plan, 'all/2/part/work').map(({ place }) => place)).toEqual([
      'all/part/work',
      'all/part',
      '',
    ])
    expect(placeOf('all/17/part/work#undo')).toBe('all/part/work#undo')
  })
})

describe('what calls take', () => {
  it('counts over all items of an each, all attempts and all processes', () => {
    const plan = planOf({ all: each({ work: program([{ capability: 'a.b', calls: 3 }]) }) })
    let process = new Process(plan)
    process.begin('all')
    process.emit({ node: 'all', type: 'node_expanded', items: 3 })
    process.begin('all/0/work', 'all/1/work', 'all/2/work')
    const first = process.purse('all/0/work')
    expect([take(first), take(process.purse('all/1/work'))]).toEqual(['ok', 'ok'])
    const failed = { class: 'transient', code: 'network_failed', message: 'no' } as const
    process.emit({ node: 'all/0/work', type: 'node_retrying', atMs: 1, error: failed, used: first.spent() })
    process.emit({ node: 'all/0/work', type: 'node_started', attempt: 2, input: NOTHING })
    expect([take(process.purse('all/0/work')), take(process.purse('all/2/work'))]).toEqual([
      'ok',
      'budget_exhausted',
    ])
    // What was written down is one call: two more were made, and their process died before it said so.
    process = process.dies()
    expect(process.state.grants.used('all/work', 'a.b')).toEqual({ calls: 1, bytesOut: 1 })
    process.purse('all/1/work').recall({ 'a.b': { calls: 1, bytesOut: 1 } })
    process.purse('all/0/work').recall({ 'a.b': { calls: 1, bytesOut: 1 } })
    expect(take(process.purse('all/2/work'))).toBe('budget_exhausted')
  })

  it('of a plan in a plan counts for it and for the one around', () => {
    const inner = planOf(
      { one: program(['a.b']) },
      { grants: [{ capability: 'a.b', calls: 2, budgets: { cents: 50 } }] },
    )
    const grants = [{ capability: 'a.b', calls: 3, budgets: { cents: 60 } }]
    const plan = planOf(
      { part: { kind: 'plan', plan: inner } as PlanNode, other: program(['a.b']) },
      { grants },
    )
    const process = new Process(plan)
    process.begin('part', 'part/one', 'other')
    const [one, other] = [process.purse('part/one'), process.purse('other')]
    expect([take(one, 30), take(one, 21), take(one, 20), take(one, 0)]).toEqual([
      'ok',
      'budget_exhausted',
      'ok',
      'budget_exhausted',
    ])
    expect([take(other, 11), take(other, 10), take(other, 0)]).toEqual([
      'budget_exhausted',
      'ok',
      'budget_exhausted',
    ])
  })

  it('counts once, whatever is recalled and by whom', () => {
    const process = new Process(planOf({ work: program([{ capability: 'a.b', calls: 9 }]) }))
    process.begin('work')
    const purse = process.purse('work')
    for (let i = 0; i < 3; i += 1) take(purse)
    purse.recall({ 'a.b': { calls: 2 } })
    purse.resumed('a.b', { calls: 4, bytesIn: 7, bytesOut: 3, units: {}, rateAgesMs: [] })
    const used = purse.spent()
    expect(used).toEqual({ calls: 4, by: { 'a.b': { calls: 4, bytesIn: 7, bytesOut: 3 } } })
    process.emit({ node: 'work', type: 'node_frozen', reason: 'budget', used })
    const again = process.dies().purse('work')
    again.recall({ 'a.b': { calls: 4, bytesIn: 7, bytesOut: 3 } })
    expect(again.spent()).toEqual({})
  })

  it('of rates looks back into earlier processes', () => {
    const grants = [{ capability: 'a.b', rate: { calls: 2, perMs: 100 } }]
    let process = new Process(planOf({ work: program(['a.b']), other: program(['a.b']) }, { grants }))
    process.begin('work', 'other')
    const purse = process.purse('work')
    expect([take(purse), take(purse), take(purse)]).toEqual(['ok', 'ok', 'rate_limited'])
    process.emit({ node: 'work', type: 'node_completed', output: NOTHING, used: purse.spent() })
    process = process.dies(50)
    expect(take(process.purse('other'))).toBe('rate_limited')
    process.nowMs += 50
    expect(take(process.purse('other'))).toBe('ok')
  })

  it('stands still where a budget is used up, and says which part of it', () => {
    const process = new Process(planOf({ work: program(['a.b'], { budget: { units: { cents: 5 } } }) }))
    process.begin('work')
    let told = 0
    const purse = process.purse('work', {
      onShort: () => {
        told += 1
      },
    })
    expect([take(purse, 5), purse.short]).toEqual(['ok', undefined])
    expect([take(purse, 1), purse.short, told]).toEqual(['budget_exhausted', 'cents', 1])
  })

  it('of a call node counts its bytes both ways', () => {
    const call: PlanNode = { kind: 'call', capability: 'a.b' }
    const process = new Process(planOf({ one: call }, { budget: { bytes: 100 } }))
    process.begin('one')
    const purse = process.purse('one', { ofCall: true })
    expect(take(purse, undefined, 60)).toBe('ok')
    const received = [50, 40].map((bytes) => purse.receive({ capability: 'a.b', bytes }))
    expect([...received, purse.spent().bytes]).toEqual([false, true, 100])
  })

  it('is never more than any grant or budget allows, whoever dies when (property)', () => {
    const step = fc.record({
      who: fc.constantFrom('x', 'y', 'part/z'),
      cents: fc.nat(3),
      next: fc.constantFrom('go on', 'say', 'die', 'die'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const inner = planOf(
          { z: program(['a.b']) },
          { grants: [{ capability: 'a.b', calls: 4 }], budget: { calls: 3 } },
        )
        const plan = planOf(
          {
            x: program([{ capability: 'a.b', calls: 5 }]),
            y: program(['a.b']),
            part: { kind: 'plan', plan: inner } as PlanNode,
          },
          {
            grants: [{ capability: 'a.b', calls: 9, budgets: { cents: 12 } }],
            budget: { calls: 8, units: { cents: 11 } },
          },
        )
        let process = new Process(plan)
        process.begin('x', 'y', 'part', 'part/z')
        const purses = new Map<string, Purse>()
        /** What the records of the programs say: they outlive every process. */
        const made = new Map<string, { calls: number; units: { cents: number } }>()
        const open = (): void => {
          for (const path of ['x', 'y', 'part/z']) {
            purses.set(path, process.purse(path))
            const record = made.get(path)
            if (record !== undefined) purses.get(path)?.recall({ 'a.b': record })
          }
        }
        open()
        for (const { who, cents, next } of steps) {
          const purse = purses.get(who) as Purse
          if (take(purse, cents, 0) === 'ok') {
            const before = made.get(who) ?? { calls: 0, units: { cents: 0 } }
            made.set(who, { calls: before.calls + 1, units: { cents: before.units.cents + cents } })
          }
          if (next === 'say') {
            process.emit({ node: who, type: 'node_frozen', reason: 'budget', used: purse.spent() })
            process.emit({ node: who, type: 'node_thawed', again: true })
          }
          if (next === 'die') {
            process = process.dies()
            open()
          }
        }
        const calls = (path: string): number => made.get(path)?.calls ?? 0
        const cents = [...made.values()].reduce((sum, { units }) => sum + units.cents, 0)
        expect(calls('x')).toBeLessThanOrEqual(5)
        expect(calls('part/z')).toBeLessThanOrEqual(3)
        expect(calls('x') + calls('y') + calls('part/z')).toBeLessThanOrEqual(8)
        expect(cents).toBeLessThanOrEqual(11)
        // And the journal counts each of them once, when all is said.
        for (const [path, purse] of purses)
          process.emit({ node: path, type: 'node_completed', output: NOTHING, used: purse.spent() })
        expect(process.state.used.calls ?? 0).toBe(calls('x') + calls('y') + calls('part/z'))
        expect(process.state.used.units?.cents ?? 0).toBe(cents)
      }),
      { numRuns: 150 },
    )
  })
})
