/**
 * Our linker and canonical ABI against the bindings that jco generates, over random values of every type of WIT: the same
 * component in both, in C and in JavaScript, with the same arguments, and a host that answers with the same values.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { openSample } from '../../src/component/component.testkit.ts'
import type { ComponentInstance } from '../../src/component/component-instance.ts'
import { type Exports, refusalOf, transpile } from './transpiled.ts'

const int = (bits: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: 2 ** bits - 1 })
const signed = (bits: number): fc.Arbitrary<number> =>
  fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 })
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const s64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
/** NaN included; its payload is not looked at by either. */
const f32 = fc.float()
const f64 = fc.double()
const text = fc.string({ unit: 'binary', maxLength: 40 })
const character = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })
const point = fc.record({ x: signed(32), y: signed(32) })
const shape = fc.oneof(
  fc.constant({ tag: 'empty' }),
  f64.map((val) => ({ tag: 'circle', val })),
  text.map((val) => ({ tag: 'label', val })),
  fc.array(point, { maxLength: 20 }).map((val) => ({ tag: 'polygon', val })),
)

/** Arguments of every export of `types.wit`. */
const CALLS: Readonly<Record<string, fc.Arbitrary<readonly unknown[]>>> = {
  'add-u8': fc.tuple(int(8), int(8)),
  'add-s8': fc.tuple(signed(8), signed(8)),
  'add-u16': fc.tuple(int(16), int(16)),
  'add-s16': fc.tuple(signed(16), signed(16)),
  'add-u32': fc.tuple(int(32), int(32)),
  'add-s32': fc.tuple(signed(32), signed(32)),
  'add-u64': fc.tuple(u64, u64),
  'add-s64': fc.tuple(s64, s64),
  'add-f32': fc.tuple(f32, f32),
  'add-f64': fc.tuple(f64, f64),
  negate: fc.tuple(fc.boolean()),
  'next-char': fc.tuple(character),
  concat: fc.tuple(text, text),
  reverse: fc.tuple(fc.array(int(32), { maxLength: 50 })),
  lengths: fc.tuple(fc.array(text, { maxLength: 20 })),
  mirror: fc.tuple(point),
  birthday: fc.tuple(fc.record({ name: text, age: int(8), tags: fc.array(text, { maxLength: 5 }) })),
  area: fc.tuple(shape),
  morph: fc.tuple(shape),
  'next-colour': fc.tuple(fc.constantFrom('red', 'green', 'blue')),
  toggle: fc.tuple(fc.record({ read: fc.boolean(), write: fc.boolean(), execute: fc.boolean() })),
  half: fc.tuple(fc.option(int(32), { nil: undefined })),
  parse: fc.tuple(fc.oneof(signed(32).map(String), text)),
  check: fc.tuple(fc.boolean()),
  swap: fc.tuple(fc.tuple(int(32), text)),
  sum: fc.array(int(32), { minLength: 17, maxLength: 17 }),
}
const FALLIBLE = new Set(['parse', 'check'])

const camel = (name: string): string =>
  name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** What jco gives, as we give it: it throws the error of a `result`. */
function asOurs(name: string, call: () => unknown): unknown {
  if (!FALLIBLE.has(name)) return call()
  try {
    const val = call()
    return val === undefined ? { tag: 'ok' } : { tag: 'ok', val }
  } catch {
    const val = refusalOf(call)
    return val === undefined ? { tag: 'err' } : { tag: 'err', val }
  }
}

describe.each([
  ['types-c', 100],
  ['types-js', 8],
])('%s, here and through jco', (sample, numRuns) => {
  const transpiled = readSample(sample).then((bytes) => transpile(bytes, 'types'))
  const open = async (): Promise<{ ours: ComponentInstance; theirs: Exports }> => ({
    ours: await openSample(sample, {}, { fuel: 2 ** 50 }),
    theirs: await (await transpiled).instantiate(),
  })
  let both: ReturnType<typeof open> | undefined

  it('exports all that is compared', async () => {
    both ??= open()
    const names = (await both).ours.exports.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys(CALLS)))
  })

  it.each(Object.keys(CALLS))('gives the same for %s', { timeout: 120_000 }, async (name) => {
    await fc.assert(
      fc.asyncProperty(CALLS[name] as fc.Arbitrary<readonly unknown[]>, async (args) => {
        both ??= open()
        const { ours, theirs } = await both
        let wanted: object
        try {
          wanted = { status: 'completed', value: asOurs(name, () => theirs[camel(name)](...args)) }
        } catch {
          // JavaScript in the guest traps where C wraps around: both instances are over then.
          wanted = { status: 'failed', error: { code: 'trapped' } }
          both = undefined
        }
        const outcome = await ours.call(name, args)
        expect(outcome).toMatchObject(wanted)
        if ('value' in wanted && outcome.status === 'completed') expect(outcome.value).toEqual(wanted.value)
      }),
      { numRuns },
    )
  })
})

describe.each(['tool-c', 'tool-as'])('%s asks its host, here and through jco', (sample) => {
  it('with the same texts, and gets the same answers', { timeout: 120_000 }, async () => {
    const asked: { ours: unknown[]; theirs: unknown[] } = { ours: [], theirs: [] }
    let answers: readonly string[] = []
    const answerTo = (list: unknown[]) => (name: string, json: string) => {
      const answer = answers[list.length % answers.length] ?? ''
      list.push([name, json])
      return answer
    }
    const ours = await openSample(sample, { $root: { hostCall: answerTo(asked.ours) } }, { fuel: 2 ** 50 })
    const { instantiate } = await transpile(await readSample(sample), 'tool')
    const theirs = await instantiate({ 'host-call': { default: answerTo(asked.theirs) } })
    await fc.assert(
      fc.asyncProperty(text, fc.array(text, { minLength: 1, maxLength: 4 }), async (input, given) => {
        answers = given
        asked.ours.length = 0
        asked.theirs.length = 0
        const wanted: unknown = theirs.run(input)
        expect(await ours.call('run', [input])).toMatchObject({ value: { tag: 'ok', val: wanted } })
        expect(asked.ours).toEqual(asked.theirs)
        expect((await ours.call('totals')) as unknown).toMatchObject({ value: theirs.totals() })
      }),
      { numRuns: 100 },
    )
  })
})
