/** Timers of a guest, one turn after the other. Logical time is the test's. */
import { describe, expect, it } from 'vitest'
import type { Machine, MachineStart, Turn } from '../machine/turn.ts'
import { base, FREELY, newIsolate, openPool, startOf } from './isolate.testkit.ts'
import { ParkableIsolate } from './parkable-isolate.ts'
import { Residents } from './residents.ts'

const T0 = Date.UTC(2026, 0, 1)
const pool = openPool()

/** Runs a program to its end, waking it whenever it wants. */
function sleepThrough(
  source: string,
  start: Partial<MachineStart> = {},
): { turns: Turn[]; wokenAt: number[]; last: Turn } {
  const isolate = newIsolate(pool)
  const turns: Turn[] = []
  const wokenAt: number[] = []
  let turn = isolate.start({ ...startOf(source), ...start }, FREELY)
  turns.push(turn)
  while (turn.status === 'waiting' && turn.wakeAtMs !== undefined) {
    wokenAt.push(turn.wakeAtMs - T0)
    turn = isolate.settle([], turn.wakeAtMs, FREELY)
    turns.push(turn)
  }
  isolate.dispose()
  return { turns, wokenAt, last: turn }
}

const resultOf = (source: string, start?: Partial<MachineStart>): unknown => {
  const { last } = sleepThrough(source, start)
  return last.status === 'completed' ? last.value : last
}

const logsOf = (source: string): readonly string[] =>
  sleepThrough(source).turns.flatMap(({ logs }) => logs.map(({ text }) => text))

/** A program that resolves to the names of what fired, after `ms`. */
const orderOf = (body: string, ms = 100): string =>
  `const order = []; const note = (...names) => order.push(...names);
   ${body}
   await new Promise((resolve) => setTimeout(resolve, ${ms})); order.join(' ')`

describe('timers of a guest', () => {
  it('fire by the time at which they are due, then in the order in which they were set', () => {
    expect(
      resultOf(
        orderOf(
          `setTimeout(note, 20, 'c'); setTimeout(note, 10, 'a'); setTimeout(note, 20, 'd'); setTimeout(note, 10, 'b')`,
        ),
      ),
    ).toBe('a b c d')
  })

  it('are asked for by the time of the next one, and by nothing else', () => {
    const { wokenAt, last } = sleepThrough(`setTimeout(() => {}, 30); setTimeout(() => {}, 10); 'value'`)
    expect(wokenAt).toEqual([10, 30])
    expect(last).toMatchObject({ status: 'completed', value: 'value' })
    expect(last).not.toHaveProperty('wakeAtMs')
  })

  it('are due after a millisecond without a delay, and after no less with one that makes no sense', () => {
    const delays = [
      '',
      ', undefined',
      ', 0',
      ', -5',
      ', NaN',
      `, 'x'`,
      ', 2 ** 31',
      ', Infinity',
      ', null',
      ', {}',
    ]
    for (const delay of delays) {
      expect(sleepThrough(`setTimeout(() => {}${delay})`).wokenAt, delay).toEqual([1])
    }
    expect(sleepThrough(`setTimeout(() => {}, '25')`).wokenAt).toEqual([25])
    expect(sleepThrough(`setTimeout(() => {}, 7.9)`).wokenAt).toEqual([7])
    expect(sleepThrough(`setTimeout(() => {}, 2 ** 32 + 3)`).wokenAt).toEqual([3])
  })

  it('get their further arguments, and the global as this', () => {
    expect(
      resultOf(`await new Promise((resolve) => {
        setTimeout(function (...args) { resolve([this === globalThis, ...args]) }, 1, 'a', { b: 2 })
      })`),
    ).toEqual([true, 'a', { b: 2 }])
  })

  it('are numbers that count up, and can be cleared by any of the clearing functions, twice, and never set', () => {
    expect(
      resultOf(`
        const ids = [setTimeout(() => {}), setInterval(() => {}), setImmediate(() => {})]
        clearInterval(ids[0]); clearTimeout(ids[1]); clearImmediate(ids[2])
        clearTimeout(ids[0]); clearTimeout(); clearTimeout(null); clearTimeout(1e9); clearTimeout('x')
        ids`),
    ).toEqual([1, 2, 3])
  })

  it('refuse what is no function: no text is evaluated', () => {
    for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
      expect(
        resultOf(
          `try { ${name}('globalThis.hit = 1') } catch (e) { [e instanceof TypeError, e.message, globalThis.hit] }`,
        ),
      ).toEqual([true, expect.stringContaining(`${name} takes a function`), undefined])
    }
  })

  it('let an immediate come after the microtasks and before what is due later', () => {
    expect(
      resultOf(
        orderOf(
          `setTimeout(note, 1, 'timeout'); setImmediate(note, 'immediate'); queueJob(); function queueJob() { Promise.resolve().then(() => note('job')) }; note('now')`,
        ),
      ),
    ).toBe('now job immediate timeout')
  })

  it('are tasks of their own: what a callback left in the queue runs before the next one', () => {
    const isolate = newIsolate(pool)
    isolate.start(
      startOf(`
        for (const name of ['a', 'b']) setTimeout(() => {
          console.log(name)
          Promise.resolve().then(() => console.log(name + ' job')).then(() => console.log(name + ' job 2'))
        }, 5)`),
      FREELY,
    )
    const { logs } = isolate.settle([], T0 + 1_000, FREELY)
    expect(logs.map(({ text }) => text)).toEqual(['a', 'a job', 'a job 2', 'b', 'b job', 'b job 2'])
    isolate.dispose()
  })

  it('come after the answers of the same turn', () => {
    const isolate = newIsolate(pool)
    isolate.start(
      startOf(`setTimeout(() => console.log('timer'), 5); tools.echo().then(() => console.log('answer'))`, {
        capabilities: ['tools.echo'],
      }),
      FREELY,
    )
    const { logs } = isolate.settle([{ id: 1, ok: true, value: 1 }], T0 + 1_000, FREELY)
    expect(logs.map(({ text }) => text)).toEqual(['answer', 'timer'])
    isolate.dispose()
  })

  it('that are set while others fire wait for a later turn: a turn ends', () => {
    const { turns, wokenAt } = sleepThrough(`
      let n = 0
      const again = () => { console.log(n); n += 1; if (n < 3) setImmediate(again) }
      setTimeout(again)`)
    expect(turns.map(({ logs }) => logs.length)).toEqual([0, 1, 1, 1])
    expect(wokenAt.map((ms) => Math.round(ms * 1_000))).toEqual([1_000, 1_001, 1_002])
  })

  it('beat on, however late a beat was, and catch nothing up', () => {
    const isolate = newIsolate(pool)
    const first = isolate.start(startOf(`setInterval(() => console.log('beat'), 10)`), FREELY)
    expect(first).toMatchObject({ wakeAtMs: T0 + 10 })
    const late = isolate.settle([], T0 + 57, FREELY)
    expect(late.logs).toHaveLength(1)
    expect(late).toMatchObject({ wakeAtMs: T0 + 60 })
    expect(isolate.settle([], T0 + 60, FREELY)).toMatchObject({ wakeAtMs: T0 + 70 })
    expect(isolate.settle([], T0 + 69, FREELY).logs).toHaveLength(0)
    isolate.dispose()
  })

  it('stop when an interval clears itself, or is cleared by another at the same time', () => {
    expect(
      logsOf(
        `let n = 0; const id = setInterval(() => { console.log(n); if (++n === 3) clearInterval(id) }, 5)`,
      ),
    ).toEqual(['0', '1', '2'])
    expect(
      logsOf(
        `const a = setInterval(() => { console.log('a'); clearInterval(a); clearTimeout(b) }, 5); const b = setTimeout(() => console.log('b'), 5)`,
      ),
    ).toEqual(['a'])
  })

  it('go on when a callback throws: it is reported once, with the place in the program', () => {
    const { turns, last } = sleepThrough(`setTimeout(() => {
  null.x
}, 5)
setTimeout(() => console.log('still here'), 5)
'value'`)
    expect(last).toMatchObject({ status: 'completed', value: 'value' })
    const reports = turns.flatMap(({ unhandledRejections }) => unhandledRejections)
    expect(reports).toMatchObject([{ name: 'TypeError', position: { file: 'program.js', line: 2 } }])
    expect(reports[0]?.stack).not.toContain('caisson:')
    expect(turns.flatMap(({ logs }) => logs)).toMatchObject([{ text: 'still here' }])
  })

  it('report whatever is thrown, and what the program fails with all the same', () => {
    const { turns, last } = sleepThrough(`
      setTimeout(() => { throw 5 }, 1)
      setTimeout(() => { throw undefined }, 2)
      setTimeout(() => { Promise.reject(new Error('nobody looked')) }, 3)
      await new Promise((_, reject) => setTimeout(() => reject(new RangeError('over')), 4))`)
    expect(last).toMatchObject({ status: 'failed', error: { name: 'RangeError', message: 'over' } })
    const reports = turns.flatMap(({ unhandledRejections }) => unhandledRejections)
    expect(reports.map(({ message }) => message)).toEqual(['5', 'undefined', 'nobody looked'])
  })

  it('repeat an interval that throws', () => {
    const { turns } = sleepThrough(
      `let n = 0; const id = setInterval(() => { if (++n === 3) clearInterval(id); throw new Error('beat ' + n) }, 5)`,
    )
    expect(
      turns.flatMap(({ unhandledRejections }) => unhandledRejections.map(({ message }) => message)),
    ).toEqual(['beat 1', 'beat 2', 'beat 3'])
  })

  it('fire in a program that waits for a time by itself', () => {
    const source = `const until = Date.now() + 3; while (Date.now() < until); await new Promise((resolve) => setTimeout(resolve, 5)); Date.now() - until`
    expect(resultOf(source)).toBeGreaterThanOrEqual(5)
  })

  it('end the run at 10,001, and at the repetition that is one too many', () => {
    expect(
      sleepThrough(`for (let i = 0; i < 10_000; i++) clearTimeout(setTimeout(() => {})); 'fits'`).last,
    ).toMatchObject({ value: 'fits' })
    expect(
      sleepThrough(`for (let i = 0; i < 10_001; i++) try { clearTimeout(setTimeout(() => {})) } catch {}`)
        .last,
    ).toMatchObject({
      status: 'exhausted',
      limit: 'timers',
      message: expect.stringContaining('10,000 times'),
    })
    const { limits } = startOf('', { limits: { timers: 5 } })
    const { wokenAt, last } = sleepThrough('setInterval(() => {}, 1)', { limits })
    expect(last).toMatchObject({ status: 'exhausted', limit: 'timers' })
    expect(wokenAt).toHaveLength(5)
  })

  it('sort ten thousand of them', () => {
    const value = resultOf(
      `const fired = []
       let x = 7
       for (let i = 0; i < 9_000; i++) { x = (x * 48271) % 2147483647; const d = 1 + (x % 997); const id = setTimeout((d) => fired.push(d), d, d); if (x % 3 === 0) clearTimeout(id) }
       await new Promise((resolve) => setTimeout(resolve, 2_000));
       [fired.length, fired.every((d, i) => i === 0 || d >= fired[i - 1])]`,
    ) as [number, boolean]
    expect(value[0]).toBeGreaterThan(5_000)
    expect(value[1]).toBe(true)
  })

  it('are what they were when a guest overwrites everything that they might be made of (invariant 3 of the prelude)', () => {
    const poison = `
      const bad = () => { throw new Error('poisoned') }
      const { ownKeys, defineProperty } = Reflect
      const accessor = Object.assign(Object.create(null), { get: bad, set: bad, configurable: true })
      const method = Object.assign(Object.create(null), { value: bad, writable: true, configurable: true })
      const prototypes = [Array.prototype, Map.prototype, Function.prototype, Number.prototype, Object.prototype]
      const keys = prototypes.map((prototype) => ownKeys(prototype))
      const names = ['0', '1', '2', 'due', 'order', 'place', 'id', 'args', 'period', 'callback', 'get', 'value']
      for (let i = 0; i < prototypes.length; i++) {
        for (let k = 0; k < keys[i].length; k++) if (keys[i][k] !== 'constructor' && keys[i][k] !== 'length') defineProperty(prototypes[i], keys[i][k], method)
      }
      for (let k = 0; k < names.length; k++) defineProperty(Object.prototype, names[k], accessor)
      for (let k = 0; k < 3; k++) defineProperty(Array.prototype, names[k], accessor)
      Reflect.apply = Date.now = bad
      globalThis.Map = globalThis.TypeError = globalThis.setTimeout = globalThis.clearTimeout = undefined`
    const plain = `const { log } = console; const clear = clearTimeout; const set = setTimeout; const every = setInterval
      //poison
      set((x) => log('b', x), 20, 1); set((x) => log('a', x), 10, 2); clear(set(() => log('never'), 15))
      let n = 0; const id = every(() => { n += 1; log('beat'); if (n === 2) clear(id) }, 8)`
    const poisoned = plain.replace('//poison', poison)
    const expected = ['beat', 'a 2', 'beat', 'b 1']
    expect(logsOf(plain)).toEqual(expected)
    expect(logsOf(poisoned)).toEqual(expected)
  })
})

describe('a program whose value is there', () => {
  const source = `setTimeout(() => console.log('late'), 50); setTimeout(() => {}, 60); tools.echo(1); 'value'`

  it('waits for timers and calls, and says that it only waits for them', () => {
    const isolate = newIsolate(pool)
    const start = startOf(source, { capabilities: ['tools.echo'] })
    expect(isolate.start(start, FREELY)).toMatchObject({ status: 'waiting', ready: true, wakeAtMs: T0 + 50 })
    expect(isolate.settle([], T0 + 60, FREELY)).toMatchObject({
      status: 'waiting',
      ready: true,
      logs: [{ text: 'late' }],
    })
    expect(isolate.settle([{ id: 1, ok: true, value: 1 }], T0 + 60, FREELY)).toMatchObject({
      status: 'completed',
      value: 'value',
    })
    isolate.dispose()
  })

  it('ends at once where it is told to drop them, and says which', () => {
    const isolate = newIsolate(pool)
    const start: MachineStart = { ...startOf(source, { capabilities: ['tools.echo'] }), atEnd: 'drop' }
    expect(isolate.start(start, FREELY)).toMatchObject({
      status: 'completed',
      value: 'value',
      calls: [],
      left: { calls: [{ id: 1, capability: 'tools.echo', args: 1 }], timers: 2 },
    })
    expect(isolate.wakeAtMs).toBeUndefined()
    isolate.dispose()
  })

  it('waits for no timer of the prelude itself, which fires as any other', () => {
    expect(sleepThrough(`AbortSignal.timeout(60_000); 'value'`)).toMatchObject({
      wokenAt: [],
      last: { status: 'completed', value: 'value' },
    })
    const source = `await new Promise((resolve) => { AbortSignal.timeout(60_000).onabort = () => resolve('aborted') })`
    expect(sleepThrough(source)).toMatchObject({ wokenAt: [60_000], last: { value: 'aborted' } })
  })

  it('has nothing left where nothing is pending', () => {
    const { last } = sleepThrough(`clearTimeout(setTimeout(() => {})); 1`, { atEnd: 'drop' })
    expect(last).toMatchObject({ status: 'completed', value: 1 })
    expect(last).not.toHaveProperty('left')
  })
})

describe('a guest that is captured with timers', () => {
  const source = `
    const seen = []
    setTimeout(() => seen.push('a'), 10)
    const id = setInterval(() => { seen.push('beat'); if (seen.length > 4) clearInterval(id) }, 7)
    await new Promise((resolve) => setTimeout(resolve, 40))
    seen.join(' ')`

  it('goes on in another isolate as it would have, to the byte', () => {
    const { limits } = startOf('')
    const straight = newIsolate(pool)
    let turn = straight.start(startOf(source), FREELY)
    let living = newIsolate(pool)
    living.start(startOf(source), FREELY)
    let pages = base.pages
    while (turn.status === 'waiting') {
      const captured = living.capture()
      pages = pages.with(captured.changes)
      living.dispose()
      living = newIsolate(pool)
      const changes = pages.changesSince(base.pages)
      living.restore({ ...captured, changes, capabilities: [], limits })
      expect(living.wakeAtMs).toBe(turn.wakeAtMs)
      const at = turn.wakeAtMs as number
      turn = straight.settle([], at, FREELY)
      expect(living.settle([], at, FREELY)).toEqual(turn)
      expect(living.stateDigest()).toBe(straight.stateDigest())
    }
    expect(turn).toMatchObject({ status: 'completed', value: 'beat a beat beat beat' })
    straight.dispose()
    living.dispose()
  })

  it('is parked and woken, and fires late what became due meanwhile, once', () => {
    const residents = new Residents(1)
    const machine: Machine = new ParkableIsolate({ pool, residents, syncCalls: { call: () => undefined } })
    const turn = machine.start(startOf(source), FREELY) as Turn
    ;(machine as ParkableIsolate).park()
    expect(machine.wakeAtMs).toBe((turn as { wakeAtMs?: number }).wakeAtMs)
    const late = machine.settle([], T0 + 3_600_000, FREELY)
    expect(late).toMatchObject({ status: 'waiting', ready: true, wakeAtMs: T0 + 3_600_002 })
    machine.dispose()
  })
})
