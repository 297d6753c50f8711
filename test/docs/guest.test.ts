/** docs/guest.md says what guests really find. */
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { openRuntime } from '../../src/entry/node.ts'
import { tableRows } from './markdown-table.ts'

const page = readFileSync(new URL('../../docs/guest.md', import.meta.url), 'utf8')
const runtime = await openRuntime()
afterAll(() => runtime.close())

const LANGUAGE = new Set(
  `AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError
  FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array
  InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set
  SharedArrayBuffer String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray
  WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite
  isNaN parseFloat parseInt undefined unescape`.split(/\s+/),
)

const namesIn = (cell: string | undefined): string[] =>
  [...(cell ?? '').matchAll(/`([\w$]+)`/g)].map(([, name]) => name ?? '')

async function evaluate(source: string, input?: unknown): Promise<unknown> {
  const outcome = await runtime.run(source, { input })
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

describe('docs/guest.md', () => {
  it('lists every global that is not the language, and whether it is lazy', async () => {
    const rows = tableRows(page, 'The library')
    const documented = rows.flatMap(([names, when]) =>
      namesIn(names).map((name) => [name, when === 'lazy'] as const),
    )
    const source = `
      const found = {}
      for (const name of Object.getOwnPropertyNames(globalThis)) found[name] = Object.getOwnPropertyDescriptor(globalThis, name).get !== undefined
      return found`
    const found = Object.entries((await evaluate(source)) as Record<string, boolean>).filter(
      ([name]) => !LANGUAGE.has(name) && name !== 'input',
    )
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(found))
  })

  it('names as absent only what is absent', async () => {
    const names = tableRows(page, 'What there is not').flatMap(([cell]) => namesIn(cell))
    expect(names.length).toBeGreaterThan(15)
    expect(await evaluate('input.filter((name) => name in globalThis)', names)).toEqual([])
  })

  it('says right what works without Intl, and what of the language is there', async () => {
    const source = `
      const date = new Date(0)
      return [
        typeof Intl, (1234567.891).toLocaleString('de'), date.toLocaleDateString('de'), date.toLocaleString(), 'z'.localeCompare('ä') < 0,
        'i'.toLocaleUpperCase('tr'), [Object.groupBy, Map.groupBy, Promise.withResolvers, Promise.try, Set.prototype.union, Iterator.prototype.map,
          ArrayBuffer.prototype.transfer, ''.isWellFormed, Float16Array, Error.isError, Math.sumPrecise].every((one) => typeof one === 'function'),
        [Symbol.dispose, Array.fromAsync, globalThis.Temporal, Uint8Array.fromBase64].every((one) => one === undefined),
      ]`
    expect(await evaluate(source)).toEqual([
      'undefined',
      '1234567.891',
      '01/01/1970',
      '01/01/1970, 12:00:00 AM',
      true,
      'I',
      true,
      true,
    ])
  })
})
