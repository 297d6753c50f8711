/** Components that do all that a guest can do to its host, opened as an embedder opens them. */
import { describe, expect, it } from 'vitest'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { openRuntime } from '../../src/entry/node.ts'

const hostCall = (_name: string, said: string): string => said
const interfaces = { $root: { hostCall } }

describe.each(['hostile-c', 'hostile-as'])('%s', (sample) => {
  it.each([
    ['loop', 'wall'],
    // Whichever comes first: what it says to the host counts.
    ['host-loop', expect.stringMatching(/^(wall|bytes)$/)],
    ['post-loop', 'wall'],
    ['realloc-loop', 'wall'],
  ])(
    'that does "%s" ends at its limit, within twice its time',
    async (which, limit) => {
      await using runtime = await openRuntime()
      const limits = { wallMs: 1_000, fuel: 2 ** 50 }
      const component = await runtime.openComponent(await readSample(sample), { interfaces, limits })
      let outcome = await component.call('run', [which, 'text'])
      // What is wrong with its allocator shows in the next call.
      if (which === 'realloc-loop') outcome = await component.call('run', ['none', 'text'])
      expect(outcome).toMatchObject({ status: 'exhausted', limit })
      expect(outcome.usage.wallMs).toBeLessThan(2_000)
      await expect(component.call('run', ['none', ''])).rejects.toMatchObject({ code: 'isolate_destroyed' })
    },
    60_000,
  )

  it('that recurses ends at the limit of its stack, or where it overruns one that it has in its memory', async () => {
    await using runtime = await openRuntime()
    const component = await runtime.openComponent(await readSample(sample), { interfaces })
    const outcome = await component.call('run', ['recursion', ''])
    expect(outcome).toMatchObject(
      outcome.status === 'failed' ? { error: { code: 'trapped' } } : { status: 'exhausted', limit: 'stack' },
    )
  }, 60_000)

  it('ends for fuel where that is the limit, and an allocator that traps is a trap', async () => {
    await using runtime = await openRuntime()
    const bytes = await readSample(sample)
    const bounded = await runtime.openComponent(bytes, { interfaces, limits: { fuel: 5_000_000 } })
    expect(await bounded.call('run', ['loop', ''])).toMatchObject({ status: 'exhausted', limit: 'fuel' })
    const trapping = await runtime.openComponent(bytes, { interfaces })
    await trapping.call('run', ['realloc-trap', 'text'])
    expect(await trapping.call('run', ['none', 'text'])).toMatchObject({
      status: 'failed',
      error: { code: 'trapped' },
    })
  }, 60_000)

  it('gets no more memory than its cap', async () => {
    await using runtime = await openRuntime()
    const limits = { memoryBytes: 8 * 1024 * 1024 }
    const component = await runtime.openComponent(await readSample(sample), { interfaces, limits })
    const outcome = await component.call('run', ['flood', ''])
    expect(outcome.usage.memoryBytes).toBeLessThanOrEqual(limits.memoryBytes)
  }, 60_000)
})

describe('two components with different grants', () => {
  it('stay apart while their calls are interleaved', async () => {
    const capabilities = [
      {
        name: 'hostCall',
        description: 'Says what it is told.',
        effect: 'read' as const,
        invoke: async (input: unknown) => {
          await new Promise((resolve) => setTimeout(resolve, 1))
          return (input as { arguments: string }).arguments
        },
      },
    ]
    await using runtime = await openRuntime({ capabilities })
    const bytes = await readSample('tool-c')
    const open = await runtime.openComponent(bytes, { grants: ['hostCall'] })
    const once = await runtime.openComponent(bytes, { grants: [{ capability: 'hostCall', calls: 1 }] })
    const none = runtime.openComponent(bytes, { grants: [] })
    await expect(none).rejects.toMatchObject({ code: 'missing_imports' })
    const [first, second] = await Promise.all([open.call('run', ['a\nb\nc']), once.call('run', ['x\ny'])])
    expect(first).toMatchObject({ value: { tag: 'ok', val: '{"line":"a"}\n{"line":"b"}\n{"line":"c"}' } })
    expect(second).toMatchObject({ value: { tag: 'err', val: expect.stringContaining('budget_exhausted') } })
    expect(await open.call('totals')).toMatchObject({ value: [1, 38] })
    expect(await once.call('totals')).toMatchObject({ value: [0, 0] })
  }, 60_000)

  it('leave nothing behind in 100,000 calls', async () => {
    await using runtime = await openRuntime()
    const component = await runtime.openComponent(await readSample('types-c'), { limits: { fuel: 2 ** 50 } })
    const once = async (): Promise<unknown> => component.call('concat', ['some ', 'text'])
    for (let i = 0; i < 2_000; i += 1) await once()
    const before = component.memoryBytes
    for (let i = 0; i < 100_000; i += 1) await once()
    expect(component.memoryBytes).toBe(before)
    expect(await once()).toMatchObject({ value: 'some text' })
  }, 120_000)
})
