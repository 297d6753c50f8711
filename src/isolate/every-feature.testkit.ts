/**
 * A program that holds every kind of state that an engine can hold while it waits, and asks at many places. For
 * tests of snapshots. `answerTo` is a world that answers it; the program's value says whether all was kept.
 */
import type { Answer, PendingCall } from '../machine/turn.ts'

export const EVERY_FEATURE: string = `
class Account {
  #sum = 0n
  static made = 0
  constructor() { Account.made += 1 }
  add(n) { this.#sum += BigInt(n); return this }
  get sum() { return this.#sum }
}
const map = new Map(), weak = new WeakMap(), key = { k: 1 }, symbol = Symbol('s'), set = new Set([NaN, -0])
weak.set(key, 'weak')
const floats = Float64Array.from({ length: 300 }, (_, i) => Math.sin(i))
const view = new Int8Array(new ArrayBuffer(8), 2, 4)
view[0] = -1
const pattern = /(\\w+)-(\\d+)/g, date = new Date(0)
const proxy = new Proxy({}, { get: (_, name) => 'p:' + String(name) })
function* counter() { let i = 0; while (true) { const got = yield i++; if (got) i += got } }
async function* answers(n) { for (let i = 0; i < n; i++) yield 2 * (await world.ask({ i })) }
const steps = counter()
steps.next(); steps.next(5)
const account = new Account()
const next = (() => { let c = 0; return () => ++c })()
const log = []
for await (const v of answers(3)) {
  account.add(v)
  map.set('k' + next(), { v, o: { deep: [v, [v + 1]] } })
  pattern.exec('abc-12 x-3')
}
const both = await Promise.all([world.ask({ i: 10 }), world.ask({ i: 20 })])
const settled = await Promise.allSettled([world.ask({ i: 3 }), world.fail({ i: 4 }), Promise.race([world.ask({ i: 5 })])])
for (const [name, value] of map) {
  const y = await world.ask({ i: value.v })
  account.add(y)
  value.y = y
  if (name === 'k2') {
    try { await world.fail({ i: 9 }) } catch (error) { value.error = error.code + error.message } finally { log.push(next()) }
  }
}
const label = await (async () => { try { return await world.ask({ i: 1 }) } finally { log.push(await world.ask({ i: 2 })) } })()
return {
  sum: account.sum, both, label, log, made: Account.made, count: next(), step: steps.next().value, map, set,
  weak: weak.get(key), floats: floats.reduce((a, b) => a + b, 0), view, last: pattern.lastIndex,
  date, proxy: proxy.zap, symbol: String(symbol), settled: settled.map((one) => one.status),
  random: [Math.random(), Math.random()], now: Date.now(), stack: typeof new Error('x').stack,
}
`

export const EVERY_FEATURE_GRANTS: readonly string[] = ['world.ask', 'world.fail']

/** What the world says to a call of the program. */
export function answerTo({ id, capability, args }: PendingCall): Answer {
  return capability === 'world.ask'
    ? { id, ok: true, value: (args as { i: number }).i + 1 }
    : { id, ok: false, error: { code: 'denied', message: 'No.' } }
}
