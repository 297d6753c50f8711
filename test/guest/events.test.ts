/** Events and abort signals, as the DOM standard has them. */
import { afterAll, describe, expect, it } from 'vitest'
import { openRuntime } from '../../src/entry/node.ts'

const runtime = await openRuntime()
afterAll(() => runtime.close())

async function evaluate(source: string): Promise<unknown> {
  const outcome = await runtime.run(source)
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

describe('EventTarget', () => {
  it('calls listeners in order, those that capture first, each once', async () => {
    const source = `
      const target = new EventTarget()
      const seen = []
      const twice = () => seen.push('twice')
      target.addEventListener('x', () => seen.push('first'))
      target.addEventListener('x', twice); target.addEventListener('x', twice)
      target.addEventListener('x', { handleEvent(event) { seen.push(this.handleEvent !== undefined && event.type) } })
      target.addEventListener('x', () => seen.push('capture'), true)
      target.addEventListener('x', () => seen.push('once'), { once: true })
      target.addEventListener('y', () => seen.push('other'))
      target.addEventListener('x', null)
      target.dispatchEvent(new Event('x')); target.removeEventListener('x', twice); target.dispatchEvent(new Event('x'))
      return seen`
    expect(await evaluate(source)).toEqual([
      'capture',
      'first',
      'twice',
      'x',
      'once',
      'capture',
      'first',
      'x',
    ])
  })

  it('can be extended, stopped, canceled and cleaned up by a signal', async () => {
    const source = `
      class Mine extends EventTarget {}
      const target = new Mine(), controller = new AbortController(), seen = []
      target.addEventListener('x', (event) => { seen.push(event.target === target, event.eventPhase); event.preventDefault(); event.stopImmediatePropagation() }, { signal: controller.signal })
      target.addEventListener('x', () => seen.push('late'))
      target.addEventListener('p', (event) => event.preventDefault(), { passive: true })
      const results = [target.dispatchEvent(new Event('x', { cancelable: true })), target.dispatchEvent(new Event('x')), target.dispatchEvent(new Event('p', { cancelable: true }))]
      controller.abort()
      target.dispatchEvent(new CustomEvent('x', { detail: 1 }))
      target.addEventListener('x', () => seen.push('never'), { signal: AbortSignal.abort() })
      return [results, seen]`
    expect(await evaluate(source)).toEqual([
      [false, true, true],
      [true, 2, true, 2, 'late'],
    ])
  })

  it('reports what a listener throws, and goes on with the next', async () => {
    const outcome = await runtime.run(`
      const target = new EventTarget(); let reached = false
      target.addEventListener('x', () => { throw new Error('in a listener') })
      target.addEventListener('x', () => { reached = true })
      target.dispatchEvent(new Event('x'))
      return reached`)
    expect(outcome).toMatchObject({
      status: 'completed',
      value: true,
      unhandledRejections: [{ message: 'in a listener', position: { line: 3 } }],
    })
  })

  it('refuses an event that is being dispatched, and what is no event', async () => {
    const source = `
      const target = new EventTarget(), event = new Event('x'), seen = []
      const attempt = (fn) => { try { fn() } catch (error) { seen.push([error.name, error.code]) } }
      target.addEventListener('x', () => attempt(() => target.dispatchEvent(event)))
      target.dispatchEvent(event)
      attempt(() => target.dispatchEvent({ type: 'x' })); attempt(() => new Event()); attempt(() => target.addEventListener('x', 1))
      attempt(() => EventTarget.prototype.dispatchEvent.call({}, event)); attempt(() => new AbortSignal())
      return seen`
    const refused = ['TypeError', undefined]
    expect(await evaluate(source)).toEqual([
      ['InvalidStateError', 11],
      refused,
      refused,
      refused,
      refused,
      refused,
    ])
  })

  it('marks events of its own as trusted, and no others', async () => {
    const source = `
      const controller = new AbortController(); let trusted
      controller.signal.onabort = (event) => { trusted = event.isTrusted }
      controller.signal.dispatchEvent(new Event('abort'))
      const first = trusted
      controller.abort()
      return [first, trusted, new Event('x').isTrusted]`
    expect(await evaluate(source)).toEqual([false, true, false])
  })
})

describe('AbortSignal', () => {
  it('aborts once, with a reason, and tells its listeners in order', async () => {
    const source = `
      const controller = new AbortController(), { signal } = controller, seen = []
      signal.onabort = null
      signal.addEventListener('abort', () => seen.push(1)); signal.onabort = () => seen.push(2); signal.addEventListener('abort', () => seen.push(3))
      controller.abort('why'); controller.abort('again')
      let thrown; try { signal.throwIfAborted() } catch (error) { thrown = error }
      const plain = AbortSignal.abort().reason
      return [signal.aborted, signal.reason, thrown, seen, plain.name, plain.code, AbortSignal.abort(null).reason]`
    expect(await evaluate(source)).toEqual([true, 'why', 'why', [1, 2, 3], 'AbortError', 20, null])
  })

  it('follows any of several, also through others that do', async () => {
    const source = `
      const a = new AbortController(), b = new AbortController()
      const first = AbortSignal.any([a.signal, b.signal]), second = AbortSignal.any([first]), done = AbortSignal.any([AbortSignal.abort(7), a.signal]), none = AbortSignal.any([])
      const order = []
      for (const [name, signal] of Object.entries({ b: b.signal, first, second })) signal.addEventListener('abort', () => order.push(name, second.aborted))
      b.abort('b')
      return [order, first.reason, second.reason, done.reason, none.aborted, a.signal.aborted]`
    expect(await evaluate(source)).toEqual([
      ['b', true, 'first', true, 'second', true],
      'b',
      'b',
      7,
      false,
      false,
    ])
  })

  it('times out by logical time, whatever became of setTimeout', async () => {
    const source = `
      globalThis.setTimeout = () => { throw new Error('poison') }
      const started = performance.now()
      const signal = AbortSignal.timeout(20)
      const reason = await new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)))
      return [reason.name, reason.code, performance.now() - started >= 20]`
    expect(await evaluate(source)).toEqual(['TimeoutError', 23, true])
    await expect(evaluate('AbortSignal.timeout(-1)')).rejects.toThrow('TypeError')
  })
})
