/** Every method of the plan API, with every wrong kind of each of its options: refused by name, and nothing else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { CaissonError, openRuntime, type Plan, type PlanRun, type Runtime } from '../../src/entry/node.ts'

const PLAN: Plan = {
  format: 'plan/1',
  name: 'ask',
  version: '1',
  nodes: {
    ask: { kind: 'approval', question: 'Well?' },
    event: { kind: 'wait', event: 'happened' },
  },
}

let runtime: Runtime
let run: PlanRun

beforeAll(async () => {
  runtime = await openRuntime({ store: createMemoryRunStore() })
  run = await runtime.propose(PLAN, { by: 'ann', run: 'r' })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  await run.outcome()
})
afterAll(() => runtime.close())

/** One of each kind that may stand where another one belongs. */
const KINDS: Readonly<Record<string, unknown>> = {
  null: null,
  true: true,
  'an empty text': '',
  'a text': 'text\u0000',
  zero: 0,
  'a negative number': -1,
  'a fraction': 1.5,
  NaN: Number.NaN,
  infinity: Number.POSITIVE_INFINITY,
  'a bigint': 1n,
  'a symbol': Symbol('s'),
  'a function': () => {},
  'an empty object': {},
  'an empty list': [],
  'a list of what belongs nowhere': [{ wrong: true }, null],
  'a promise': Promise.resolve('ann'),
  'an object that looks like one of the others': Object.create(null),
}
const TEXTS = ['an empty text', 'a text']
const EMPTY_LIST = ['an empty list']
const AMOUNTS = ['zero', 'a fraction']
const EMPTY = ['an empty object', 'an object that looks like one of the others']

const DIGEST = `sha256:${'0'.repeat(64)}`

interface Method {
  readonly call: (options: never) => unknown
  /** Options that will do. */
  readonly good: object
  /** By each option, which kinds will do too, or are refused as something else. */
  readonly options: Readonly<Record<string, readonly string[]>>
  /** Those that have to be there. */
  readonly required?: readonly string[]
}

const whose = { domain: TEXTS, principal: TEXTS }
const by: readonly string[] = []

const METHODS: Readonly<Record<string, Method>> = {
  propose: {
    call: (options) => runtime.propose(PLAN, options),
    good: { by: 'ann' },
    options: { by, run: [], ...whose },
    required: ['by'],
  },
  checkPlan: { call: (options) => runtime.checkPlan(PLAN, options), good: {}, options: { wasm: EMPTY_LIST } },
  planRun: { call: (options) => runtime.planRun('r', options), good: {}, options: whose },
  fork: {
    call: (options) => runtime.fork('r', options),
    good: { by: 'ann', at: 1 },
    options: { by, at: [], run: [], ...whose },
    required: ['by', 'at'],
  },
  verify: {
    call: (options) => runtime.verify('r', options),
    good: {},
    options: {
      ...whose,
      signers: EMPTY_LIST,
      known: EMPTY_LIST,
      receipts: EMPTY_LIST,
      concurrency: [],
      thread: [],
      signal: [],
    },
  },
  receipts: { call: (options) => runtime.receipts('r', options), good: {}, options: whose },
  approve: {
    call: (options) => run.approve(options),
    good: { by: 'ann', digest: DIGEST },
    options: { by, digest: [], comment: TEXTS },
    required: ['by', 'digest'],
  },
  reject: {
    call: (options) => run.reject(options),
    good: { by: 'ann', reason: 'no' },
    options: { by, reason: TEXTS },
    required: ['by', 'reason'],
  },
  cancel: {
    call: (options) => run.cancel(options),
    good: { by: 'ann', reason: 'no' },
    options: { by, reason: TEXTS },
    required: ['by', 'reason'],
  },
  start: {
    call: (options) => run.start(options),
    good: { by: 'ann' },
    options: { by, signal: [] },
    required: ['by'],
  },
  resume: {
    call: (options) => run.resume(options),
    good: { by: 'ann' },
    options: { by, point: [], unseen: ['true'], answers: EMPTY_LIST, more: EMPTY, signal: [] },
    required: ['by'],
  },
  'more of resume': {
    call: (more) => run.resume({ by: 'ann', more }),
    good: {},
    options: {
      fuel: AMOUNTS,
      calls: AMOUNTS,
      steps: AMOUNTS,
      activeMs: AMOUNTS,
      wallMs: AMOUNTS,
      bytes: AMOUNTS,
      units: EMPTY,
    },
  },
  'answers of resume': {
    call: (answer) => run.resume({ by: 'ann', answers: [answer] }),
    good: { by: 'ann', node: 'ask', happened: false },
    options: { by: ['a text'], node: ['a text'], call: [], happened: ['true'], skip: ['true'] },
    required: ['by', 'node', 'happened'],
  },
  answer: {
    call: (answer) => run.answer(answer),
    good: { by: 'ann', node: 'ask', happened: false },
    options: { by: ['a text'], node: ['a text'], call: [], happened: ['true'], skip: ['true'] },
    required: ['by', 'node', 'happened'],
  },
  decide: {
    call: (decision) => run.decide(decision),
    good: { by: 'ann', request: DIGEST, decision: 'reject', reason: 'no' },
    options: { by: ['a text'], request: [], decision: [], comment: TEXTS, reason: TEXTS },
    required: ['by', 'request', 'decision', 'reason'],
  },
  send: {
    call: (options) => run.send('happened', 1, options),
    good: { by: 'ann' },
    options: { by },
    required: ['by'],
  },
  events: {
    call: (options) => run.events(options),
    good: {},
    options: { from: ['zero'], types: EMPTY_LIST, nodes: EMPTY_LIST, signal: [], until: [] },
  },
}

async function refusal(work: () => unknown): Promise<CaissonError> {
  try {
    await work()
  } catch (error) {
    if (CaissonError.is(error)) return error
    throw error
  }
  throw new Error('Nothing was refused.')
}

async function expectRefused(work: () => unknown, option: string, what: string): Promise<void> {
  const { code, details } = await refusal(work).catch((cause: unknown) => {
    throw new Error(`${option}: ${what}`, { cause })
  })
  expect({ code, option: details.option }, `${option}: ${what}`).toEqual({
    code: 'invalid_argument',
    option: expect.stringMatching(new RegExp(`(^|\\.)${option}($|[.[])`)),
  })
}

describe.each(Object.entries(METHODS))('%s', (_, { call, good, options, required = [] }) => {
  it('refuses every wrong kind of each option by its name', async () => {
    const before = (await run.view()).events
    for (const [option, allowed] of Object.entries(options)) {
      for (const [kind, wrong] of Object.entries(KINDS)) {
        if (allowed.includes(kind)) continue
        await expectRefused(() => call({ ...good, [option]: wrong } as never), option, kind)
      }
    }
    for (const option of required) {
      await expectRefused(() => call({ ...good, [option]: undefined } as never), option, 'left out')
    }
    expect((await run.view()).events).toBe(before)
  })

  it('refuses an option that there is not', async () => {
    await expectRefused(() => call({ ...good, nope: 1 } as never), 'nope', 'unknown')
  })

  it('refuses what are no options at all', async () => {
    for (const [kind, wrong] of Object.entries(KINDS)) {
      const isObject = typeof wrong === 'object' && wrong !== null
      if (isObject && (required.length === 0 || Array.isArray(wrong))) continue
      const { code } = await refusal(() => call(wrong as never)).catch((cause: unknown) => {
        throw new Error(kind, { cause })
      })
      expect(code, kind).toBe('invalid_argument')
    }
  })
})

describe('what is no option', () => {
  it('is refused too: plans, names of runs and of events', async () => {
    for (const [kind, wrong] of Object.entries(KINDS)) {
      if (typeof wrong !== 'object' || wrong === null)
        await expectRefused(() => runtime.propose(wrong as never, { by: 'ann' }), 'plan', kind)
      await expectRefused(() => runtime.planRun(wrong as never), 'run', kind)
      await expectRefused(() => runtime.fork(wrong as never, { by: 'ann', at: 1 }), 'run', kind)
      await expectRefused(() => runtime.verify(wrong as never), 'run', kind)
      await expectRefused(() => runtime.receipts(wrong as never), 'run', kind)
      if (kind !== 'a text')
        await expectRefused(() => run.send(wrong as never, 1, { by: 'ann' }), 'event', kind)
    }
    for (const nothing of [undefined, { digest: 1, plan: null }, { plan: 1, digest: null }, []])
      expect((await refusal(() => runtime.propose(nothing as never, { by: 'ann' }))).code).toMatch(
        /^invalid_/,
      )
  })

  it('and so are calls without any', async () => {
    const without = [
      run.approve,
      run.reject,
      run.cancel,
      run.start,
      run.resume,
      run.decide,
      run.answer,
      run.send,
    ]
    for (const method of without)
      expect((await refusal(() => (method as () => unknown).call(run))).code, method.name).toBe(
        'invalid_argument',
      )
  })
})
