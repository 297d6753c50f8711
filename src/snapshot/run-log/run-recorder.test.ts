import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { boundStore } from '../../../test/checkpoints/bound-store.ts'
import { CaissonError } from '../../base/errors.ts'
import { Ledger } from '../../capability/budget.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { EntryCodec } from './entry-codec.ts'
import { RunRecorder } from './run-recorder.ts'

const intent = (id: number) =>
  ({ id, capability: 'a.b', effect: 'write', idempotencyKey: `g/${id}`, args: id, askedAtMs: 1 }) as const

/** A recorder on a store that appends when it is told to. */
const recorderOn = async (append: (write: () => Promise<void>) => Promise<void>) => {
  const store = createMemoryRunStore()
  const slow: RunStore = {
    ...boundStore(store),
    append: (run, at, entries, lease) => append(() => store.append(run, at, entries, lease)),
  }
  const recorder = new RunRecorder({
    store: slow,
    run: 'r',
    tenant: 't',
    lease: await store.lease('r', 60_000),
    codec: new EntryCodec({ ports: nodeCheckpointPorts }),
    at: 0,
    ledger: new Ledger(),
    clock: { now: () => 1, monotonic: () => 1 },
  })
  return { recorder, written: async () => (await store.entries('r', 0, 100)).length }
}

describe('a run recorder', () => {
  it('2: an intent and a result are on the disk before anything follows from them', async () => {
    const held: (() => void)[] = []
    const { recorder, written } = await recorderOn(async (write) => {
      await new Promise<void>((resolve) => held.push(resolve))
      await write()
    })
    for (const record of [
      () => recorder.intent(intent(1)),
      () => recorder.result({ id: 1, ok: true, value: 2 }),
    ]) {
      const before = await written()
      let done = false
      const recording = record().then(() => {
        done = true
      })
      await expect.poll(() => held.length).toBe(1)
      expect([done, await written()]).toEqual([false, before])
      held.pop()?.()
      await recording
      expect(await written()).toBeGreaterThan(before)
    }
  })

  it('3: writes together what is asked for while a write is under way', async () => {
    let writes = 0
    const { recorder } = await recorderOn((write) => {
      writes += 1
      return write()
    })
    await Promise.all([1, 2, 3, 4, 5].map((id) => recorder.intent(intent(id))))
    expect(writes).toBe(2)
  })

  it('3: keeps nobody waiting for what others add meanwhile', async () => {
    const { recorder } = await recorderOn(async (write) => {
      // As a guest whose timers fire on and on.
      recorder.turn(1, [])
      await write()
    })
    let others = 0
    const going = (async () => {
      while (others < 200) {
        others += 1
        recorder.turn(others, [])
        await recorder.flush()
      }
    })()
    await recorder.intent(intent(1))
    expect(others).toBeLessThan(100)
    await going
  })

  it('5: refuses what no log takes, and goes on without it', async () => {
    const { recorder, written } = await recorderOn((write) => write())
    const large = '\x01'.repeat(12_000_000) // six times as long in the log
    await expect(recorder.intent({ ...intent(1), args: large })).rejects.toMatchObject({
      code: 'value_too_large',
    })
    await recorder.intent(intent(2))
    await expect(recorder.result({ id: 2, ok: true, value: large })).rejects.toThrow(CaissonError)
    await recorder.syncCalls(
      [1, 2].map((n) => ({ capability: 'a.s', args: n, ok: true, value: large.slice(6e6) })),
    )
    await recorder.result({ id: 2, ok: true, value: 3 })
    expect(await written()).toBe(5) // intent, two of sync calls, result, and what all of it used up
  })

  it('6: says what a mark would repeat', async () => {
    const { recorder } = await recorderOn((write) => write())
    await recorder.intent({ ...intent(1), args: 'x'.repeat(1_000) })
    expect(recorder.openBytes).toBeGreaterThan(1_000)
    await recorder.result({ id: 1, ok: true, value: 1 })
    expect(recorder.openBytes).toBeLessThan(1_000)
    recorder.turn(2, [{ id: 1, ok: true, value: 1 }])
    expect(recorder.openBytes).toBe(0)
  })

  it('4: writes nothing more after a write failed, and tells everybody', async () => {
    let writes = 0
    const { recorder } = await recorderOn(() => {
      writes += 1
      return Promise.reject(new Error('the disk is gone'))
    })
    await expect(recorder.intent(intent(1))).rejects.toThrow('the disk is gone')
    await expect(recorder.intent(intent(2))).rejects.toThrow('the disk is gone')
    expect(writes).toBe(1)
  })
})
