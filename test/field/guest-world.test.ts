/** What people and models write with the library, and what must be right of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRuntime, type RunOptions, type Runtime } from '../../src/entry/node.ts'
import { echo } from '../echo-tools.ts'

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime({ capabilities: [echo] })
})
afterAll(() => runtime.close())

const run = (source: string, options: RunOptions = {}) =>
  runtime.run(source, { grants: ['tools.echo'], ...options })

/** `run` of what must complete. */
async function value(source: string, options: RunOptions = {}): Promise<unknown> {
  const outcome = await run(source, options)
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

describe('a program', () => {
  it.each([
    ['JavaScript', 'program.js', 'const n = 1\n\nthrow new Error("here")'],
    ['TypeScript', 'program.ts', 'const n: number = 1\n\nthrow new Error("here")'],
  ])('in %s is told its own lines, whatever its source map claims', async (_, fileName, source) => {
    const map = {
      version: 3,
      sources: ['/etc/passwd'],
      names: [],
      mappings: 'AAgxCA,AAgxCA;AAgxCA;AAgxCA',
      sourcesContent: ['lies'],
    }
    const url = `data:application/json;base64,${btoa(JSON.stringify(map))}`
    const outcome = await run(`${source}\n//# sourceMappingURL=${url}`, { fileName })
    expect(outcome).toMatchObject({ status: 'failed', error: { message: 'here' } })
    const { stack } = (outcome as { error: { stack: string } }).error
    expect(stack).toContain(`${fileName}:3:`)
    expect(stack).not.toContain('passwd')
  })

  it('ends for memory with 50 MB in a Blob under a cap of 32 MB', async () => {
    const source = `const parts = []; for (let i = 0; i < 50; i += 1) parts.push(new Uint8Array(1e6)); new Blob(parts).size`
    expect(await run(source, { limits: { memoryBytes: 32 * 1024 * 1024 } })).toMatchObject({
      status: 'exhausted',
      limit: 'memory',
    })
  })

  it('reads the body of a response once, and is told so the second time', async () => {
    const source = `const response = new Response('a'); const first = await response.text()
      try { await response.json() } catch (error) { return [first, error instanceof TypeError, error.message] }`
    expect(await value(source)).toEqual(['a', true, expect.stringContaining('read')])
  })

  it('is aborted by a signal when its own time comes, and not before', async () => {
    const source = `const signal = AbortSignal.timeout(50)
      const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
      await later(40); const before = signal.aborted
      await later(20); return [before, signal.aborted, signal.reason.name]`
    expect(await value(source)).toEqual([false, true, 'TimeoutError'])
  })

  it('is not failed at a later call by a promise that nobody awaits', async () => {
    const outcome = await run(`void Promise.reject(new Error('detached'))
      void (async () => { await null; throw new Error('later') })()
      const first = await tools.echo(1); return first + (await tools.echo(2))`)
    expect(outcome).toMatchObject({ status: 'completed', value: 3 })
    expect(outcome.unhandledRejections.map(({ message }) => message)).toEqual(['detached', 'later'])
  })

  it('logs what is cyclic, huge or hostile, within bounds and without running it', async () => {
    const outcome = await run(
      `let touched = 0
      const cyclic = { name: 'c' }; cyclic.self = cyclic
      const hostile = new Proxy({ get x() { touched += 1; return 1 } }, { get() { touched += 1 }, ownKeys() { touched += 1; return [] } })
      const getter = { get secret() { touched += 1; return 'ran' }, toString() { touched += 1; return 'ran' } }
      console.log(cyclic); console.log(hostile); console.log(getter); console.log('x'.repeat(1e6)); console.log(new Array(1e6).fill(0))
      return touched`,
      { limits: { logBytes: 4_000_000 } },
    )
    expect(outcome).toMatchObject({ status: 'completed', value: 0 })
    expect(outcome.logs.map(({ text }) => text).join('\\n')).not.toContain('ran')
    expect(outcome.logs).toHaveLength(5)
    for (const { text } of outcome.logs) expect(text.length).toBeLessThan(1_100_000)
  })

  it('leaves a loop that waits for the clock', async () => {
    expect(
      await value(`const end = Date.now() + 5; let n = 0; while (Date.now() < end) n += 1; return n > 0`),
    ).toBe(true)
  })
})
