import { describe, expect, it } from 'vitest'
import { createMemoryPreparedStore } from '../../../host-bindings/prepared/memory-prepared-store.ts'
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { webCheckpointPorts } from '../../../host-bindings/system/web-checkpoint-ports.ts'
import { sha256 } from '../../base/digest.ts'
import type { PreparedStore } from '../../ports/prepared-store.ts'
import { assemble } from '../../wasm/assemble.testkit.ts'
import type { PreparedCore } from './core-manifest.ts'
import { prepareCached } from './prepare-cached.ts'
import { describeCoreOptions, type PrepareCoreOptions, prepareCore } from './prepare-core.ts'
import { PreparedCache, type PreparedCacheOptions } from './prepared-cache.ts'

const KEY = new Uint8Array(32).fill(7)
const OPTIONS: PrepareCoreOptions = { profile: 'v8', maxMemoryPages: 4 }
const MODULE = assemble('(module (memory 1) (func (export "run") (loop $l (br $l))))')
const OTHER = assemble('(module (memory 1) (func (export "run") (unreachable)))')

/** A store that shows what it holds. */
function openStore(): PreparedStore & { readonly entries: Map<string, Uint8Array> } {
  const entries = new Map<string, Uint8Array>()
  return {
    entries,
    get: async (name) => entries.get(name)?.slice(),
    put: async (name, bytes) => {
      entries.set(name, bytes.slice())
    },
  }
}

function open(store: PreparedStore, more: Partial<PreparedCacheOptions> = {}): PreparedCache {
  return new PreparedCache({ store, key: KEY, ...more }, nodeCheckpointPorts)
}

/** What comes out, and whether it had to be prepared. */
async function prepare(
  cache: PreparedCache,
  bytes: Uint8Array = MODULE,
  options: PrepareCoreOptions = OPTIONS,
): Promise<{ readonly made: boolean; readonly prepared: PreparedCore }> {
  let made = false
  const prepared = await prepareCached(cache, bytes, options, (copy) => {
    made = true
    return prepareCore(copy, options)
  })
  return { made, prepared }
}

describe('PreparedCache', () => {
  it('gives the second time what was made the first time', async () => {
    const store = createMemoryPreparedStore()
    const first = await prepare(open(store))
    const second = await prepare(open(store))
    expect([first.made, second.made]).toEqual([true, false])
    expect(second.prepared).toEqual(first.prepared)
    expect(second.prepared).toEqual(prepareCore(MODULE, OPTIONS))
    const web = new PreparedCache({ store, key: KEY }, webCheckpointPorts)
    expect((await prepare(web)).made).toBe(false)
  })

  it('makes anew whatever byte was changed, and whatever is missing (invariant 1)', async () => {
    const store = openStore()
    const prepared = prepareCore(MODULE, OPTIONS)
    let made = 0
    const again = (): Promise<PreparedCore> =>
      prepareCached(open(store), MODULE, OPTIONS, () => {
        made += 1
        return prepared
      })
    await again()
    const [name, entry] = [...store.entries][0] as [string, Uint8Array]
    const wrong: Uint8Array[] = [new Uint8Array([...entry, 0])]
    for (let at = 0; at < entry.length; at++) {
      const changed = entry.slice()
      changed[at] = (changed[at] as number) ^ (1 << (at % 8))
      wrong.push(changed, entry.slice(0, at))
    }
    for (const bytes of wrong) {
      store.entries.set(name, bytes)
      made = 0
      expect((await again()).wasm).toBe(prepared.wasm)
      expect(made).toBe(1)
      expect(Buffer.compare(store.entries.get(name) as Uint8Array, entry)).toBe(0)
    }
    made = 0
    expect(await again()).toEqual(prepared)
    expect(made).toBe(0)
  })

  it('takes no entry for another one (invariant 1)', async () => {
    const store = openStore()
    await prepare(open(store), MODULE)
    await prepare(open(store), OTHER)
    const [[a, entryA], [b, entryB]] = [...store.entries] as [[string, Uint8Array], [string, Uint8Array]]
    store.entries.set(a, entryB).set(b, entryA)
    const again = await prepare(open(store), MODULE)
    expect(again.made).toBe(true)
    expect(again.prepared).toEqual(prepareCore(MODULE, OPTIONS))
  })

  it('takes nothing that was written with another key, whatever its name (invariant 2)', async () => {
    const key = new Uint8Array(32).fill(8)
    const theirs = openStore()
    await prepare(open(theirs, { key }))
    const ours = openStore()
    await prepare(open(ours))
    expect([...theirs.entries.keys()]).not.toEqual([...ours.entries.keys()])
    const [name] = ours.entries.keys()
    ours.entries.set(name as string, [...theirs.entries.values()][0] as Uint8Array)
    expect((await prepare(open(ours))).made).toBe(true)
    expect(() => open(ours, { key: new Uint8Array(16) })).toThrow(/must be 32 bytes/)
  })

  it('keeps apart what differs in any option (invariant 2)', async () => {
    const store = openStore()
    const suspends = [{ module: 'env', name: 'ask' }]
    const others: PrepareCoreOptions[] = [
      OPTIONS,
      { ...OPTIONS, profile: 'portable' },
      { ...OPTIONS, maxMemoryPages: 5 },
      { ...OPTIONS, maxTableEntries: 5 },
      { ...OPTIONS, counters: 'shared' },
      { ...OPTIONS, importsMayThrow: true },
      { ...OPTIONS, maxBytes: 1_000 },
    ]
    for (const options of others) expect((await prepare(open(store), MODULE, options)).made).toBe(true)
    expect(store.entries.size).toBe(others.length)
    const texts = [
      { ...OPTIONS, suspends, asyncify: { version: '1' } },
      { ...OPTIONS, suspends, asyncify: { version: '2' } },
      { ...OPTIONS, suspends: [{ module: 'env.ask', name: '' }], asyncify: { version: '1' } },
    ].map((options) => JSON.stringify(describeCoreOptions(options)))
    expect(new Set(texts).size).toBe(texts.length)
  })

  it('looks at a copy, whatever a store does with its bytes (invariant 3)', async () => {
    const store = openStore()
    await prepare(open(store))
    const shared = [...store.entries.values()][0] as Uint8Array
    const sly: PreparedStore = { get: async () => shared, put: store.put }
    const ports = {
      ...nodeCheckpointPorts,
      hash: {
        ...nodeCheckpointPorts.hash,
        openHmacSha256(key: Uint8Array) {
          const stream = nodeCheckpointPorts.hash.openHmacSha256(key)
          return {
            update: (bytes: Uint8Array) => stream.update(bytes),
            digest: () => {
              shared.fill(0)
              return stream.digest()
            },
          }
        },
      },
    }
    const { made, prepared } = await prepare(new PreparedCache({ store: sly, key: KEY }, ports))
    expect(made).toBe(false)
    expect(prepared).toEqual(prepareCore(MODULE, OPTIONS))
  })

  it('prepares when its store fails, and says so (invariant 4)', async () => {
    const told: unknown[] = []
    const failure = new Error('no disk')
    const broken: PreparedStore = { get: () => Promise.reject(failure), put: () => Promise.reject(failure) }
    const onStoreError = (error: unknown): void => {
      told.push(error)
      throw error
    }
    const { prepared } = await prepare(open(broken, { onStoreError }))
    expect(prepared).toEqual(prepareCore(MODULE, OPTIONS))
    expect(told).toEqual([failure, failure])
    const store = openStore()
    expect((await prepare(open(store, { maxEntryBytes: 100 }))).made).toBe(true)
    expect(store.entries.size).toBe(0)
  })

  it('keeps no failure', async () => {
    const store = openStore()
    const cut = MODULE.slice(0, -2)
    await expect(prepare(open(store), cut)).rejects.toMatchObject({ code: 'invalid_module' })
    expect(store.entries.size).toBe(0)
  })
})

describe('rules of preparation', () => {
  const TEXTS = [
    `(module (import "env" "f" (func $f (param i32) (result i32))) (memory (export "memory") 1 9)
      (table 2 funcref) (elem (i32.const 0) $r $f) (global $g (mut i64) (i64.const 1)) (start $s)
      (func $s (memory.fill (i32.const 0) (i32.const 1) (i32.const 100)))
      (func $r (export "r") (param $n i32) (result i32) (local $i i32)
        (block $out (loop $l
          (br_if $out (i32.gt_s (local.get $i) (local.get $n)))
          (local.set $i (i32.add (local.get $i) (call_indirect (param i32) (result i32) (local.get $n) (i32.const 1))))
          (br $l)))
        (if (result i32) (local.get $n) (then (call $r (i32.sub (local.get $n) (i32.const 1)))) (else (i32.const 2)))))`,
    `(module (memory 1) (func (export "t") (param i32) (result i32)
      (block $a (block $b (block $c (br_table $a $b $c (local.get 0))) (return (i32.const 1))) (return (i32.const 2)))
      (memory.grow (i32.const 1))))`,
  ]
  /** By the number of the rules: what `prepareCore` makes of them. */
  const MADE: Readonly<Record<number, string>> = {
    3: 'sha256:db6b96189fff77d9f0ebe8e4c24a5151f4a186dbdeafd67566fb9d55e1c4eb16',
  }

  it('have a new number when the same module comes out otherwise', () => {
    const made = TEXTS.flatMap((text) =>
      (['v8', 'portable'] as const).flatMap((profile) =>
        (['own', 'shared'] as const).map((counters) => {
          const { wasm, manifest } = prepareCore(assemble(text), { profile, counters, maxMemoryPages: 256 })
          return `${sha256(wasm)} ${JSON.stringify(manifest)}`
        }),
      ),
    )
    const digest = sha256(new TextEncoder().encode(made.join('\n')))
    const [rules] = describeCoreOptions(OPTIONS)
    expect(
      MADE[rules as number],
      'raise RULES in prepare-core.ts, or old results are taken for new ones',
    ).toBe(digest)
  })
})
