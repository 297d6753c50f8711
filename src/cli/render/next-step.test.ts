import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS, type LimitName, type Limits, largestLimit } from '../../machine/limits.ts'
import type { GuestError } from '../../machine/turn.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import { nextStep } from './next-step.ts'

const NO_MODULES = 'the host gives this program no modules (options modules and loadModule of run)'
const facts = (source = '', limits: Partial<Limits> = {}): Parameters<typeof nextStep>[1] => ({
  source,
  limits: { ...DEFAULT_LIMITS, ...limits },
  withheld: ['prices.lookup'],
})
const exhausted = (limit: LimitName): Outcome => ({ status: 'exhausted', limit, message: 'm' }) as Outcome
const failed = (error: GuestError): Outcome => ({ status: 'failed', error }) as Outcome

describe('what to do at a limit', () => {
  it.each<[LimitName, string]>([
    ['fuel', 'Raise it with --fuel 4_000_000_000, or make the program do less.'],
    ['memory', 'Raise it with --memory 128MiB, or make the program keep less.'],
    ['stack', 'Raise it with --stack 1MiB, or look for recursion without an end.'],
    ['wall', 'Raise it with --timeout 60s, or make the program do less.'],
    [
      'idle',
      'Raise it with --idle 2h, or look for a timer that is far away, or an interval that nobody clears.',
    ],
    ['calls', 'Raise it with --calls 2000, or look for a loop that calls without an end.'],
  ])('%s', (limit, step) => {
    expect(nextStep(exhausted(limit), facts())).toBe(step)
  })

  it('never proposes what would be refused', () => {
    const most = { memoryBytes: largestLimit('memoryBytes'), stackBytes: largestLimit('stackBytes') }
    expect(nextStep(exhausted('memory'), facts('', most))).toMatch(/cannot be raised any more/)
    expect(nextStep(exhausted('stack'), facts('', most))).toMatch(/cannot be raised any more/)
    expect(nextStep(exhausted('calls'), facts('', { calls: 0 }))).toContain('--calls 1,')
  })
})

describe('what to do about a failure', () => {
  const at = { file: 'p.js', line: 1, column: 1 }
  it.each([
    ['prices.lookup()', "'prices' is not defined", /^prices\.lookup exists .*: --grant prices\.lookup$/],
    ['files.readText()', "'files' is not defined", /--allow-read DIR/],
    ['files.write()', "'files' is not defined", /for writing with --allow-write DIR/],
    ['net.fetch()', "'net' is not defined", /--allow-net HOST/],
    ['require("fs")', "'require' is not defined", /`fs` is not available in a guest; grant files.readText/],
  ])('%s', (source, message, step) => {
    expect(nextStep(failed({ name: 'ReferenceError', message, position: at }), facts(source))).toMatch(step)
  })

  it('of a granted directory that is for reading alone', () => {
    const error = { name: 'TypeError', message: 'not a function', position: { ...at, column: 18 } }
    expect(nextStep(failed(error), facts('await files.write({})'))).toMatch(/--allow-write DIR/)
  })

  it.each([
    ['value_refused', 'result.f is a function, which cannot cross the bridge.', /plain data/],
    ['not_found', `import "./a.js" in stdin found nothing: ${NO_MODULES}.`, /caisson run FILE reads modules/],
  ] as const)('of code %s', (code, message, step) => {
    expect(nextStep(failed({ name: 'Error', message, code }), facts())).toMatch(step)
  })

  it('of what `fetch` was refused is that of net.fetch', () => {
    const cause = { name: 'CapabilityError', message: 'm', code: 'network_denied' }
    const refused = failed({ name: 'TypeError', message: 'fetch failed: m', cause })
    expect(nextStep(refused, facts())).toMatch(/^Allow the host with --allow-net HOST/)
    const message = 'fetch needs the capability net.fetch, which was not granted: grant net.fetch.'
    const without = failed({ name: 'TypeError', message, position: at })
    expect(nextStep(without, facts('fetch("x")'))).toBe('Grant hosts with --allow-net HOST.')
    const own = { ...facts('fetch("x")'), withheld: ['net.fetch'] }
    expect(nextStep(without, own)).toMatch(/--grant net\.fetch$/)
  })

  it('is nothing of its own where the error says what to write instead', () => {
    const message = '"namespace A" holds values, which is not supported: use a module, or an object'
    expect(nextStep(failed({ name: 'SyntaxError', message }), facts('namespace A { let b }'))).toBeUndefined()
  })

  it('is nothing where nothing is known', () => {
    expect(nextStep(failed({ name: 'Error', message: 'm' }), facts('throw new Error("m")'))).toBeUndefined()
    expect(nextStep({ status: 'completed' } as Outcome, facts())).toBeUndefined()
  })
})
