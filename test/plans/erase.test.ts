/** Runs of plans whose values are erased: gone for everybody, while what happened can still be verified. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { fromHex } from '../../src/base/bytes.ts'
import {
  capability,
  openRuntime,
  openSigner,
  type Plan,
  type PlanRun,
  type Runtime,
  type RuntimeOptions,
  type SignedReceipt,
} from '../../src/entry/node.ts'
import type { RunStore } from '../../src/ports/run-store.ts'

const PEM = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
`
const SIGNERS = [fromHex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')]
const ENCRYPTED: RuntimeOptions = {
  checkpoints: { keys: { encryption: { current: { id: 'e', bytes: new Uint8Array(32).fill(9) } } } },
}
const SECRET = 'the-diagnosis-of-bob'

const PLAN: Plan = {
  format: 'plan/1',
  name: 'secrets',
  version: '1',
  grants: ['doctors.ask'],
  nodes: {
    small: { kind: 'program', source: 'return { said: input.text }', input: { $from: 'input' } },
    large: { kind: 'program', source: 'return { said: input.said.repeat(200) }', input: { $from: 'small' } },
    kept: {
      kind: 'program',
      source: 'return await doctors.ask(input)',
      input: { $from: 'small' },
      grants: ['doctors.ask'],
    },
    call: { kind: 'call', capability: 'doctors.ask', input: { $from: 'large' }, after: ['kept'] },
  },
  output: { $from: 'call' },
}

async function using<T>(
  store: RunStore,
  work: (runtime: Runtime) => Promise<T>,
  options: RuntimeOptions = {},
): Promise<T> {
  const capabilities = [
    capability({
      name: 'doctors.ask',
      description: 'Asks a doctor',
      effect: 'read',
      invoke: async (input) => ({ heard: JSON.stringify(input) }),
    }),
  ]
  const receipts = { sign: await openSigner(PEM) }
  const runtime = await openRuntime({ capabilities, store, receipts, ...options })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

async function completed(runtime: Runtime, erasable: boolean | undefined = true): Promise<PlanRun> {
  const run = await runtime.propose(PLAN, {
    by: 'ann',
    run: 'r',
    input: { text: SECRET },
    ...(erasable !== undefined && { erasable }),
  })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  expect(await run.outcome()).toMatchObject({
    status: 'completed',
    output: { heard: expect.stringContaining(SECRET) },
  })
  return run
}

/** Everything that a store has, as Latin-1 text, by where it is. */
async function contentOf(
  store: RunStore,
  blobs: ReadonlyMap<string, Uint8Array>,
): Promise<Map<string, string>> {
  const content = new Map<string, string>()
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
  for (const run of await store.runs()) {
    const entries = await store.entries(run, 0, 10_000)
    content.set(run, [...entries, (await store.head(run))?.summary ?? new Uint8Array()].map(text).join('\n'))
  }
  for (const [digest, bytes] of blobs) content.set(digest, text(bytes))
  return content
}

/** A store, and what was ever put into it. */
function watched(): { readonly store: RunStore; readonly blobs: Map<string, Uint8Array> } {
  const blobs = new Map<string, Uint8Array>()
  const memory = createMemoryRunStore()
  const store = new Proxy(memory, {
    get(target, name) {
      if (name === 'putBlob')
        return async (digest: never, bytes: Uint8Array) => {
          blobs.set(digest, bytes.slice())
          return target.putBlob(digest, bytes)
        }
      const method = Reflect.get(target, name)
      return typeof method === 'function' ? method.bind(target) : method
    },
  })
  return { store, blobs }
}

describe('a run that was erased', () => {
  it('has no values any more, and is verified as before: chain, signatures, receipts, order', async () => {
    const { store, blobs } = watched()
    const receipts = await using(store, async (runtime) => {
      await completed(runtime)
      const before = await runtime.verify('r', { signers: SIGNERS })
      expect(before).toMatchObject({ ok: true, executed: 3, erased: undefined })
      return runtime.receipts('r')
    })
    expect(receipts).toHaveLength(4)
    // Also what is not erased has it nowhere in the clear: neither do the logs and checkpoints of its programs.
    const readable = [...(await contentOf(store, blobs))].filter(([, text]) => text.includes(SECRET))
    expect(readable).toEqual([])
    const [key] = await store.entries('r.key', 0, 1)
    await using(store, async (runtime) => {
      const run = await runtime.planRun('r')
      const { point } = await run.view()
      await runtime.erase('r', { by: 'carol' })
      await runtime.erase('r', { by: 'mallory' })
      await expect(run.outcome()).rejects.toMatchObject({ code: 'erased' })
      await expect(run.input()).rejects.toMatchObject({ code: 'erased' })
      const erased = { by: 'carol', atMs: expect.any(Number) }
      const options = { signers: SIGNERS, receipts, known: [{ events: (await run.view()).events, point }] }
      const verified = await runtime.verify('r', options)
      expect(verified).toMatchObject({ ok: true, executed: 0, point, erased, difference: undefined })
      expect(verified.unchecked.map(({ node }) => node)).toEqual(['small', 'large', 'kept'])
      const [first] = receipts as [SignedReceipt]
      const forged = { ...first, receipt: { ...first.receipt, fuel: 1 } }
      expect(await runtime.verify('r', { signers: SIGNERS, receipts: [forged] })).toMatchObject({
        ok: false,
        difference: { of: 'receipt' },
      })
    })
    await store.collect({ graceMs: 0 })
    const left = await contentOf(store, new Map())
    expect([...left.values()].some((text) => text.includes(SECRET))).toBe(false)
    expect([...left.keys()].some((name) => /^r\.[0-9a-f]{24}$/.test(name))).toBe(false)
    const secret = Buffer.from((key as Uint8Array).slice(-40)).toString('latin1')
    expect([...left.values()].some((text) => text.includes(secret))).toBe(false)
    expect(
      await using(store, (runtime) => runtime.verify('r', { signers: SIGNERS, receipts })),
    ).toMatchObject({ ok: true })
  })

  it('does not hide what was changed in its journal', async () => {
    const { store } = watched()
    await using(store, async (runtime) => {
      await completed(runtime)
      await runtime.erase('r', { by: 'carol' })
    })
    const entries = await store.entries('r', 0, 1_000)
    for (const at of [0, 3, 7, entries.length - 1]) {
      const hostile = new Proxy(store, {
        get(target, name) {
          const method = Reflect.get(target, name)
          if (name !== 'entries') return typeof method === 'function' ? method.bind(target) : method
          return async (run: string, from: number, most: number) => {
            const found = await store.entries(run, from, most)
            return found.map((bytes, i) =>
              run === 'r' && from + i === at ? bytes.map((byte, n) => (n === 60 ? byte ^ 1 : byte)) : bytes,
            )
          }
        },
      })
      const { ok } = await using(hostile, (runtime) => runtime.verify('r', { signers: SIGNERS }))
      expect(ok).toBe(false)
    }
  })

  it('is whole or erased, whenever the process dies, and is erased by the next one', async () => {
    for (let most = 0; ; most += 1) {
      const { store } = watched()
      await using(store, (runtime) => completed(runtime))
      let writes = 0
      const dying = new Proxy(store, {
        get(target, name) {
          const method = Reflect.get(target, name)
          if (typeof method !== 'function') return method
          if (!['append', 'remove'].includes(String(name))) return method.bind(target)
          return async (...args: unknown[]) => {
            if (writes >= most) throw new Error('gone')
            writes += 1
            return method.apply(target, args)
          }
        },
      })
      const isErased = await using(dying, (runtime) =>
        runtime.erase('r', { by: 'carol' }).then(
          () => true,
          () => false,
        ),
      )
      await using(store, async (runtime) => {
        expect(await runtime.verify('r', { signers: SIGNERS }), `after ${most} writes`).toMatchObject({
          ok: true,
        })
        await runtime.erase('r', { by: 'carol' })
        expect((await runtime.verify('r', { signers: SIGNERS })).erased).toMatchObject({ by: 'carol' })
        expect((await store.runs()).some((name) => /^r\.[0-9a-f]{24}$/.test(name))).toBe(false)
      })
      if (isErased) break
      expect(most).toBeLessThan(20)
    }
  })

  it('was half erased where the process died, and is erased by the next one', async () => {
    const { store } = watched()
    await using(store, (runtime) => completed(runtime))
    await store.remove('r.key', await store.lease('r.key', 1_000))
    await using(store, async (runtime) => {
      expect(await runtime.verify('r')).toMatchObject({ ok: true, erased: {} })
      await runtime.erase('r', { by: 'carol' })
      expect((await runtime.verify('r')).erased).toMatchObject({ by: 'carol' })
    })
  })

  it('keeps the forks that were made of it before, and none is made after', async () => {
    const { store } = watched()
    await using(store, async (runtime) => {
      await completed(runtime)
      const fork = await runtime.fork('r', { at: 1, by: 'ann', run: 'f' })
      await runtime.erase('r', { by: 'carol' })
      expect(await fork.input()).toEqual({ text: SECRET })
      await expect(runtime.fork('r', { at: 1, by: 'ann' })).rejects.toMatchObject({ code: 'erased' })
    })
  })

  it('is one that has ended, and was proposed so', async () => {
    const { store } = watched()
    await using(store, async (runtime) => {
      await completed(runtime, false)
      await expect(runtime.erase('r', { by: 'carol' })).rejects.toMatchObject({ code: 'unsupported' })
      await runtime.propose(PLAN, { by: 'ann', run: 'p', erasable: true })
      await expect(runtime.erase('p', { by: 'carol' })).rejects.toMatchObject({ code: 'invalid_transition' })
      await expect(runtime.erase('p', {} as never)).rejects.toMatchObject({ code: 'invalid_argument' })
    })
  })

  it('leaves nothing of them in any file of a folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'caisson-erase-'))
    const store = await openDirectoryRunStore(folder)
    const content = (): string =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile())
        .map((one) => readFileSync(join(one.parentPath, one.name), 'latin1'))
        .join('\n')
    try {
      await using(store, (runtime) => completed(runtime))
      const [wrapped] = await store.entries('r.key', 0, 1)
      const key = Buffer.from((wrapped as Uint8Array).slice(34, 90)).toString('latin1')
      expect(content()).toContain(key)
      expect(content()).not.toContain(SECRET)
      await using(store, (runtime) => runtime.erase('r', { by: 'carol' }))
      await store.collect({ graceMs: 0 })
      expect(content()).not.toContain(key)
      expect(content()).not.toContain(SECRET)
      expect(await using(store, (runtime) => runtime.verify('r', { signers: SIGNERS }))).toMatchObject({
        ok: true,
      })
    } finally {
      await store.close()
      rmSync(folder, { recursive: true })
    }
  })

  it('is every run of a host with an encryption key, whose store has nothing that can be read', async () => {
    const { store, blobs } = watched()
    await using(
      store,
      async (runtime) => {
        await completed(runtime, undefined)
        expect([...(await contentOf(store, blobs)).values()].some((text) => text.includes(SECRET))).toBe(
          false,
        )
        const bytes = await runtime.exportRun('r')
        expect(Buffer.from(bytes).toString('latin1')).not.toContain(SECRET)
        await runtime.erase('r', { by: 'carol' })
        expect(await runtime.verify('r')).toMatchObject({ ok: true, erased: { by: 'carol' } })
      },
      ENCRYPTED,
    )
  })
})
