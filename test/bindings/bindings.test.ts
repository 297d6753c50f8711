/** All bindings as embedders and guests meet them: through the check of definitions and the real gate. */
import { describe, expect, it } from 'vitest'
import { createArtifactCapabilities } from '../../host-bindings/artifacts/artifact-capabilities.ts'
import { createMemoryCallLog } from '../../host-bindings/call-log/memory-call-log.ts'
import { createClockCapabilities } from '../../host-bindings/clock/clock-capabilities.ts'
import { createNodeFetchCapabilities } from '../../host-bindings/fetch/node/node-fetch-capabilities.node.ts'
import { createFileCapabilities } from '../../host-bindings/files/file-capabilities.ts'
import { createMemoryFileTree } from '../../host-bindings/files/memory-file-tree.ts'
import { createKeyValueCapabilities } from '../../host-bindings/kv/key-value-capabilities.ts'
import { createRandomCapabilities } from '../../host-bindings/random/random-capabilities.ts'
import { createSqlCapabilities } from '../../host-bindings/sql/sql-capabilities.ts'
import type { SqlDatabase } from '../../host-bindings/sql/sql-database.ts'
import { createFixedClock } from '../../host-bindings/system/system-clock.ts'
import { checkCapability } from '../../src/capability/define-capability.ts'
import { testGate } from '../../src/capability/gate.testkit.ts'
import { inputJsonSchemaOf, outputJsonSchemaOf } from '../../src/capability/json-schema.ts'

/** A database that times out once, then answers. */
function hesitantDatabase(): SqlDatabase {
  let calls = 0
  return {
    transaction: () => {
      calls += 1
      const error = Object.assign(new Error('canceling statement due to statement timeout'), {
        code: '57014',
      })
      return calls === 1
        ? Promise.reject(error)
        : Promise.resolve({ columns: ['a'], rows: [{ a: 1 }] } as never)
    },
  }
}

const bindings = [
  ...createClockCapabilities({ clock: createFixedClock(1_000) }),
  ...createRandomCapabilities(),
  ...createKeyValueCapabilities(),
  ...createFileCapabilities({ tree: createMemoryFileTree({ files: { 'a.txt': 'hello' } }), write: true }),
  ...createArtifactCapabilities(),
  ...createNodeFetchCapabilities({ allow: ['example.com'], resolve: async () => ['10.0.0.1'] }),
  ...createSqlCapabilities({
    database: hesitantDatabase(),
    write: 'rows',
    retry: { attempts: 2, delayMs: () => 0 },
  }),
]

describe('every binding', () => {
  it.each(bindings.map((binding) => [binding.name, binding] as const))(
    '%s is a valid definition that teaches and has JSON Schemas',
    (_name, binding) => {
      expect(checkCapability(binding).name).toBe(binding.name)
      expect(binding.description).toMatch(/^[A-Z].{20,}/s)
      expect(inputJsonSchemaOf(binding)).toMatchObject({ type: 'object', additionalProperties: false })
      expect(() => JSON.stringify(outputJsonSchemaOf(binding))).not.toThrow()
      if (binding.sync !== true) expect(binding.timeoutMs).toBeGreaterThan(0)
    },
  )

  it('has a name of its own', () => {
    const names = bindings.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('through the gate', () => {
  const callLog = createMemoryCallLog()
  const { gate, call } = testGate(bindings, undefined, { callLog })
  const answer = async (name: string, args?: unknown): Promise<unknown> => (await call(name, args)).answer

  it('sync bindings answer inside the turn, also without arguments', () => {
    const indexOf = (name: string): number => gate.capabilities.findIndex((one) => one.name === name)
    expect(gate.sync.call(indexOf('clock.now'), undefined, 0)).toBe(1_000)
    expect(gate.sync.call(indexOf('random.bytes'), { length: 3 }, 8)).toHaveLength(3)
  })

  it('awaited bindings give plain values', async () => {
    expect(await answer('files.readText', { path: 'a.txt' })).toMatchObject({ ok: true, value: 'hello' })
    await answer('kv.set', { key: '__proto__', value: { a: [1, null] } })
    expect(await answer('kv.get', { key: '__proto__' })).toMatchObject({
      ok: true,
      value: { value: { a: [1, null] }, version: 1 },
    })
    expect(await answer('kv.list')).toMatchObject({ ok: true, value: { next: null } })
    const data = new Uint8Array([1, 2])
    expect(
      await answer('artifacts.write', { name: 'a.bin', mediaType: 'application/x', data }),
    ).toMatchObject({
      ok: true,
      value: { name: 'a.bin', bytes: 2 },
    })
  })

  it('show their own failures with code, message and details, and no more', async () => {
    expect(await answer('files.read', { path: '../x' })).toMatchObject({
      ok: false,
      error: { code: 'path_denied', message: expect.stringContaining('upwards') },
    })
    expect(await answer('net.fetch', { url: 'https://example.com/' })).toMatchObject({
      ok: false,
      error: { code: 'network_denied', details: { host: 'example.com' } },
    })
    expect(
      await answer('net.fetch', { url: 'https://example.com/', headers: { Cookie: 'a' } }),
    ).toMatchObject({
      ok: false,
      error: { code: 'denied', details: { header: 'cookie' } },
    })
    expect(await answer('kv.set', { key: 'a', value: new Date(0) })).toMatchObject({
      ok: false,
      error: { code: 'invalid_arguments' },
    })
  })

  it('a database that times out once is asked again where the policy says so', async () => {
    expect(await answer('sql.query', { text: 'select 1' })).toMatchObject({
      ok: true,
      value: { columns: ['a'], rows: [{ a: 1 }] },
    })
  })

  it('are recorded with intent and result', () => {
    const kinds = callLog.entries().map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'intent').length).toBe(
      kinds.filter((kind) => kind === 'result').length,
    )
    expect(kinds.length).toBeGreaterThan(10)
  })
})
