/** Runs beside whose journals something was put that does not belong there: it is named, and kept from nobody's erasing. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { fromHex } from '../../src/base/bytes.ts'
import {
  capability,
  openRuntime,
  openSigner,
  type Plan,
  type Runtime,
  type RuntimeOptions,
} from '../../src/entry/node.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { EntrySeal, type LogKind } from '../../src/snapshot/run-log/entry-seal.ts'
import { encodeCanonical } from '../../src/values/encode-canonical.ts'

const PEM = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
`
const SIGNERS = [fromHex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')]
const KEYED: RuntimeOptions = {
  checkpoints: { keys: { mac: { current: { id: 'm', bytes: new Uint8Array(32).fill(3) } } } },
}
const SIGNED: RuntimeOptions = { receipts: { sign: await openSigner(PEM) } }

const PLAN: Plan = {
  format: 'plan/1',
  name: 'said',
  version: '1',
  grants: ['echo.say'],
  nodes: {
    kept: {
      kind: 'program',
      source: 'return await echo.say(input)',
      input: { $from: 'input' },
      grants: ['echo.say'],
    },
    ask: { kind: 'approval', question: 'Go on?', after: ['kept'] },
  },
  output: { $from: 'kept' },
}

async function using<T>(
  store: RunStore,
  options: RuntimeOptions,
  work: (runtime: Runtime) => Promise<T>,
): Promise<T> {
  const say = capability({
    name: 'echo.say',
    description: 'Says it',
    effect: 'read',
    invoke: async (said) => said,
  })
  const runtime = await openRuntime({ store, capabilities: [say], ...options })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

/** Runs "r" and "s", which a person has let end, or which wait for that. */
async function storeWithRuns(
  options: RuntimeOptions,
  hasEnded: boolean = true,
  store: RunStore = createMemoryRunStore(),
): Promise<RunStore> {
  await using(store, options, async (runtime) => {
    for (const name of ['r', 's']) {
      const run = await runtime.propose(PLAN, { by: 'ann', run: name, input: name, erasable: true })
      await run.approve({ by: 'ann', digest: (await run.view()).request })
      await run.start({ by: 'ann' })
      expect(await run.outcome()).toMatchObject({ status: 'waiting' })
      const [asked] = await run.requests()
      if (hasEnded) await run.decide({ request: asked?.digest as never, by: 'ann', decision: 'approve' })
      if (hasEnded) expect(await run.outcome()).toMatchObject({ status: 'completed', output: name })
    }
  })
  return store
}

/** Puts other entries in the place of those of a log. */
async function replace(store: RunStore, name: string, entries: readonly Uint8Array[]): Promise<void> {
  const head = await store.head(name)
  const old = await store.lease(name, 1_000)
  await store.remove(name, old)
  const lease = await store.lease(name, 1_000)
  if (head !== undefined) await store.setHead(name, { ...head, version: 1, position: 0 }, lease)
  await store.append(name, 0, entries, lease)
  await lease.release()
}

/** As anybody can write it who has no key. */
function forged(kind: LogKind, record: unknown): Promise<Uint8Array> {
  const plain = encodeCanonical(record, { bytes: 1_000, nodes: 100, depth: 10 })
  return new EntrySeal({ ports: nodeCheckpointPorts }, kind).seal(plain, {
    tenant: 'default',
    run: 'r',
    at: 0,
  })
}

describe('a key that is another one', () => {
  it.each([
    ['without keys', {}],
    ['with a MAC key', KEYED],
  ])('is named by verifying, and erased like any, %s', async (_what, options) => {
    const garbage = new Uint8Array(50)
    const nothing = await forged('key', null)
    for (const [what, bytes] of [
      ['garbage', async () => [garbage]],
      ['nothing', async () => [nothing]],
      ['of another run', (store: RunStore) => store.entries('s.key', 0, 10)],
    ] as const) {
      const store = await storeWithRuns(options)
      await replace(store, 'r.key', await bytes(store))
      await using(store, options, async (runtime) => {
        const { ok, difference } = await runtime.verify('r')
        expect({ ok, position: difference?.position }, what).toEqual({ ok: false, position: 0 })
        expect(['key', 'value'], what).toContain(difference?.of)
        const run = await runtime.planRun('r')
        await expect(run.outcome(), what).rejects.toMatchObject({ brand: 'caisson.error' })
        await runtime.erase('r', { by: 'carol' })
        expect(await runtime.verify('r'), what).toMatchObject({ ok: true, erased: { by: 'carol' } })
      })
    }
  })

  it('says of itself that it was erased only where who is trusted has signed that', async () => {
    const store = await storeWithRuns(SIGNED)
    await replace(store, 'r.key', [await forged('key', { format: 'key/1', erased: { by: 'ann', atMs: 1 } })])
    await using(store, SIGNED, async (runtime) => {
      expect((await runtime.verify('r')).erased).toMatchObject({ by: 'ann' })
      const verified = await runtime.verify('r', { signers: SIGNERS })
      expect(verified).toMatchObject({ ok: false, difference: { of: 'signature' }, erased: undefined })
      expect(await runtime.verify('s', { signers: SIGNERS })).toMatchObject({ ok: true })
      await runtime.erase('s', { by: 'carol' })
      expect(await runtime.verify('s', { signers: SIGNERS })).toMatchObject({
        ok: true,
        erased: { by: 'carol' },
      })
    })
  })
})

describe('a run that cannot be read', () => {
  it('is erased by who says so, and still named as damaged', async () => {
    const store = await storeWithRuns({})
    const entries = await store.entries('r', 0, 1_000)
    await replace(
      store,
      'r',
      entries.map((entry, at) => (at === 4 ? entry.map((byte, i) => (i === 60 ? byte ^ 1 : byte)) : entry)),
    )
    await using(store, {}, async (runtime) => {
      await expect(runtime.erase('r', { by: 'carol' })).rejects.toMatchObject({ code: 'corrupted' })
      const before = await runtime.verify('r')
      expect(before).toMatchObject({ ok: false, erased: undefined })
      await runtime.erase('r', { by: 'carol', unreadable: true })
      const after = await runtime.verify('r')
      expect(after).toMatchObject({ ok: false, erased: { by: 'carol' } })
      expect(after.difference?.of).toBe('journal')
      expect((await store.runs()).some((name) => /^r\.[0-9a-f]{24}$/.test(name))).toBe(false)
    })
  })

  it('is no reason to erase one that can be, and has not ended, or one that is not there', async () => {
    const store = await storeWithRuns({}, false)
    await using(store, {}, async (runtime) => {
      const options = { by: 'carol', unreadable: true }
      await expect(runtime.erase('r', options)).rejects.toMatchObject({ code: 'invalid_transition' })
      await expect(runtime.erase('none', options)).rejects.toMatchObject({ code: 'not_found' })
      await expect(runtime.compact('r', options)).rejects.toMatchObject({ code: 'invalid_argument' })
    })
  })

  it('is told from one whose import mark is damaged', async () => {
    const store = await storeWithRuns({}, false)
    const lease = await store.lease('r.imported', 1_000)
    await store.append('r.imported', 0, [await forged('import', null)], lease)
    await lease.release()
    await using(store, {}, async (runtime) => {
      const run = await runtime.planRun('r')
      await expect(run.view()).rejects.toMatchObject({ code: 'corrupted', message: /import mark/ })
    })
  })
})

describe('a fork', () => {
  it('is verified after the run that it comes from was erased: what its programs did there is unchecked', async () => {
    const store = await storeWithRuns({})
    await using(store, {}, async (runtime) => {
      const events = (await (await runtime.planRun('r')).view()).events
      let fork: string | undefined
      for (let at = events - 1; fork === undefined; at -= 1)
        fork = await runtime.fork('r', { at, by: 'ann', run: 'f' }).then(
          ({ run }) => run,
          () => undefined,
        )
      expect(await runtime.verify('f')).toMatchObject({ ok: true, executed: 1 })
      await runtime.erase('r', { by: 'carol' })
      const { ok, unchecked } = await runtime.verify('f')
      expect({ ok, nodes: unchecked.map(({ node }) => node) }).toEqual({ ok: true, nodes: ['kept'] })
    })
  })
})

describe('a journal in a folder', () => {
  it('is named where any byte of its file is another one, and does not end verifying', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'caisson-damaged-'))
    try {
      const kept = await storeWithRuns(KEYED, true, await openDirectoryRunStore(folder))
      await kept.close()
      const own = join(folder, 'runs', 'run-r=')
      const logs = readdirSync(own).filter((name) => name.startsWith('log-'))
      expect(logs.length).toBeGreaterThan(0)
      for (const file of logs.map((name) => join(own, name))) {
        const whole = readFileSync(file)
        const places: number[] = []
        for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 40)) {
          writeFileSync(file, whole.with(at, (whole[at] as number) ^ 4))
          const store = await openDirectoryRunStore(folder)
          const { ok, difference } = await using(store, KEYED, (runtime) => runtime.verify('r'))
          await store.close()
          expect([ok, difference?.of], `byte ${at}`).toEqual([false, 'journal'])
          places.push(difference?.position ?? -1)
        }
        // The further behind the byte, the later the entry; those of one moment stand and fall together.
        expect(places).toEqual([...places].sort((a, b) => a - b))
        expect(new Set(places).size).toBeGreaterThan(5)
        writeFileSync(file, whole)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
