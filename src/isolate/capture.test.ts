import { afterAll, describe, expect, it } from 'vitest'
import { CaissonError } from '../base/errors.ts'
import { DEFAULT_LIMITS } from '../machine/limits.ts'
import type { MachineCapture, Turn } from '../machine/turn.ts'
import type { PageTree } from '../snapshot/page-tree.ts'
import { decodeCanonical } from '../values/decode-canonical.ts'
import { encodeCanonical } from '../values/encode-canonical.ts'
import { answerTo, EVERY_FEATURE, EVERY_FEATURE_GRANTS } from './every-feature.testkit.ts'
import { base, FREELY, newIsolate, openPool, startOf } from './isolate.testkit.ts'
import type { Isolate } from './isolate.ts'

const pool = openPool()
afterAll(() => pool.close())

const start = startOf(EVERY_FEATURE, { capabilities: EVERY_FEATURE_GRANTS })
const begin = Date.UTC(2026, 0, 1)

/** An image as it would come back from a disk. */
interface Image {
  readonly memoryBytes: number
  readonly pages: PageTree
  readonly state: Uint8Array
}

const imageOf = (capture: MachineCapture, before: PageTree): Image => ({
  memoryBytes: capture.memoryBytes,
  pages: before.with(capture.changes),
  state: encodeCanonical(capture.state),
})

const restored = (image: Image, capabilities = start.capabilities): Isolate => {
  const isolate = newIsolate(pool)
  isolate.restore({
    memoryBytes: image.memoryBytes,
    changes: image.pages.changesSince(base.pages),
    state: decodeCanonical(image.state),
    capabilities,
    limits: start.limits,
  })
  return isolate
}

/** Settles the call that was asked first, turn by turn; `between` may replace the isolate while it waits. */
const finish = (
  isolate: Isolate,
  turn: Turn,
  between: (isolate: Isolate, step: number) => Isolate = (same) => same,
): { readonly turn: Turn; readonly digest: string; readonly steps: number } => {
  let now = isolate
  let last = turn
  let step = 0
  while (last.status === 'waiting') {
    now = between(now, step)
    step += 1
    const [call] = now.pending
    if (call === undefined) throw new Error('stalled')
    last = now.settle([answerTo(call)], begin + step, FREELY)
  }
  const digest = now.stateDigest()
  now.dispose()
  return { turn: last, digest, steps: step }
}

const freshRun = () => {
  const isolate = newIsolate(pool)
  return { isolate, turn: isolate.start(start, FREELY) }
}

describe('a captured isolate', () => {
  const { isolate, turn } = freshRun()
  const straight = finish(isolate, turn)

  it('runs the program of these tests to its end', () => {
    expect(straight.turn).toMatchObject({
      status: 'completed',
      value: {
        sum: 27n,
        both: [11, 21],
        weak: 'weak',
        proxy: 'p:zap',
        made: 1,
        settled: ['fulfilled', 'rejected', 'fulfilled'],
      },
    })
    expect(straight.steps).toBeGreaterThan(12)
  })

  it('goes on in another instance from each of its suspension points: same value, fuel and digest', () => {
    for (let at = 0; at < straight.steps; at += 1) {
      const run = freshRun()
      const end = finish(run.isolate, run.turn, (now, step) => {
        if (step !== at) return now
        const image = imageOf(now.capture(), base.pages)
        now.dispose()
        return restored(image)
      })
      expect(end).toEqual(straight)
    }
  })

  it('goes on when every suspension is a move, each capture against the one before', () => {
    const run = freshRun()
    let before = base.pages
    const end = finish(run.isolate, run.turn, (now) => {
      const image = imageOf(now.capture(), before)
      before = image.pages
      now.dispose()
      return restored(image)
    })
    expect(end).toEqual(straight)
  })

  it('is not disturbed by being captured', () => {
    const run = freshRun()
    const end = finish(run.isolate, run.turn, (now) => {
      now.capture()
      return now
    })
    expect(end).toEqual(straight)
  })

  it('costs what it changed: few pages a step, and none for a second look', () => {
    const run = freshRun()
    const first = run.isolate.capture()
    expect(first.changes.length).toBeLessThan(60)
    expect(run.isolate.capture().changes).toEqual([])
    run.isolate.settle([answerTo(run.isolate.pending[0] as never)], begin, FREELY)
    expect(run.isolate.capture().changes.length).toBeLessThan(25)
    run.isolate.dispose()
  })

  it('keeps a memory that grew', () => {
    const grown = newIsolate(pool)
    grown.start(
      startOf(
        'const big = Array.from({ length: 2e5 }, (_, i) => i * 1.5); await world.ask({ i: 1 }); return big.length + big[1e5]',
        {
          capabilities: EVERY_FEATURE_GRANTS,
        },
      ),
      FREELY,
    )
    const image = imageOf(grown.capture(), base.pages)
    grown.dispose()
    expect(image.memoryBytes).toBeGreaterThan(1_000_000)
    const again = restored(image)
    expect(again.settle([{ id: 1, ok: true, value: 0 }], begin, FREELY)).toMatchObject({ value: 350_000 })
    again.dispose()
  })

  it('is captured in pieces when it is large: the same capture, and the host has its turns meanwhile', async () => {
    const open = (): Isolate => {
      const large = newIsolate(pool)
      large.start(
        startOf(
          'const big = Array.from({ length: 6e5 }, (_, i) => i); await world.ask({ i: 1 }); return big[1e5]',
          {
            capabilities: EVERY_FEATURE_GRANTS,
          },
        ),
        FREELY,
      )
      return large
    }
    const [atOnce, inPieces] = [open(), open()]
    expect(inPieces.isLarge).toBe(true)
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 0)
    const capturing = inPieces.captureInPieces()
    expect(() => inPieces.settle([], begin, FREELY)).toThrow(expect.objectContaining({ code: 'busy' }))
    const capture = await capturing
    clearInterval(timer)
    expect(turns).toBeGreaterThan(1)
    const { changes, ...rest } = atOnce.capture()
    expect({ ...capture, changes: capture.changes.length }).toEqual({ ...rest, changes: changes.length })
    expect(base.pages.with(capture.changes).root()).toBe(base.pages.with(changes).root())
    expect(inPieces.settle([{ id: 1, ok: true, value: 0 }], begin, FREELY)).toMatchObject({ value: 1e5 })
    atOnce.dispose()
    inPieces.dispose()

    const dropped = open()
    const late = dropped.captureInPieces()
    dropped.dispose()
    await late
    expect(() => dropped.capture()).toThrow(expect.objectContaining({ code: 'isolate_destroyed' }))
  })

  it('cannot be captured inside a turn, before it began or after it ended', () => {
    let inside: unknown
    const isolate = newIsolate(pool, {
      call: () => {
        try {
          isolate.capture()
        } catch (error) {
          inside = error
        }
      },
    })
    expect(() => isolate.capture()).toThrow(CaissonError)
    isolate.start(startOf('tools.sync(); return 1', { capabilities: ['!tools.sync'] }), FREELY)
    expect(CaissonError.is(inside, 'busy')).toBe(true)
    expect(() => isolate.capture()).toThrow(expect.objectContaining({ code: 'isolate_destroyed' }))
    isolate.dispose()
  })

  it('keeps its usage, and reaches its limits where it would have', () => {
    const source =
      'for (let i = 0; i < 5; i++) { await world.ask({ i }); for (let j = 0; j < 1e5; j++); } return 1'
    const limits = { fuel: 12_000_000, calls: 5 }
    const run = (move: boolean): Turn => {
      let isolate = newIsolate(pool)
      let last = isolate.start(startOf(source, { capabilities: EVERY_FEATURE_GRANTS, limits }), FREELY)
      while (last.status === 'waiting') {
        if (move) {
          const image = imageOf(isolate.capture(), base.pages)
          isolate.dispose()
          isolate = newIsolate(pool)
          isolate.restore({
            memoryBytes: image.memoryBytes,
            changes: image.pages.changesSince(base.pages),
            state: decodeCanonical(image.state),
            capabilities: start.capabilities,
            limits: { ...DEFAULT_LIMITS, ...limits },
          })
        }
        last = isolate.settle([answerTo(isolate.pending[0] as never)], begin, FREELY)
      }
      isolate.dispose()
      return last
    }
    const straightly = run(false)
    expect(straightly).toMatchObject({ status: 'exhausted', limit: 'fuel' })
    expect(run(true)).toEqual(straightly)
  })

  it('takes capabilities in another order, and refuses other ones by name', () => {
    const run = freshRun()
    const image = imageOf(run.isolate.capture(), base.pages)
    const end = finish(restored(image, start.capabilities.toReversed()), run.turn)
    expect(end).toEqual(straight)
    run.isolate.dispose()
    const fail = { name: 'world.fail', sync: false }
    for (const [capabilities, missing, added] of [
      [[fail], ['world.ask'], []],
      [[...start.capabilities, { name: 'world.more', sync: false }], [], ['world.more']],
      [[fail, { name: 'world.ask', sync: true }], ['world.ask'], []],
    ] as const) {
      expect(() => restored(image, [...capabilities])).toThrow(
        expect.objectContaining({ code: 'checkpoint_refused', details: { missing, added } }),
      )
    }
  })

  it('is refused, or harms itself alone, whatever its state says', () => {
    const run = freshRun()
    const image = imageOf(run.isolate.capture(), base.pages)
    run.isolate.dispose()
    const state = decodeCanonical(image.state) as Record<string, unknown>
    const wrong: unknown[] = [undefined, null, 7, -1, 0.5, 2 ** 40, 'x', [], {}, [{}], Number.NaN]
    for (const key of Object.keys(state)) {
      for (const value of wrong) {
        const isolate = newIsolate(pool)
        const attempt = (): unknown => {
          isolate.restore({
            memoryBytes: image.memoryBytes,
            changes: image.pages.changesSince(base.pages),
            state: { ...state, [key]: value },
            capabilities: start.capabilities,
            limits: start.limits,
          })
          return isolate.settle([{ id: 1, ok: true, value: 1 }], begin, FREELY)
        }
        let refusal: unknown
        try {
          attempt()
        } catch (error) {
          refusal = error
        }
        if (refusal !== undefined) expect(CaissonError.is(refusal)).toBe(true)
        isolate.dispose()
      }
    }
    expect(finish(restored(image), run.turn)).toEqual(straight)
  })
})
