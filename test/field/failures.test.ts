/** What an author is told of a program that fails: where it was, in their own source, and what is missing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type CapabilityFailure,
  capability,
  type Guest,
  type Limits,
  type Outcome,
  openRuntime,
  type ProgramForm,
  type Runtime,
  type RuntimeOptions,
} from '../../src/entry/node.ts'

const fails = (): never => {
  throw new Error('connect 10.0.0.7 as admin:hunter2')
}
const tools = [
  capability({ name: 'tools.fail', description: 'Fails', effect: 'read', invoke: async () => fails() }),
  capability({ name: 'tools.failNow', description: 'Fails', effect: 'read', sync: true, invoke: fails }),
  capability({ name: 'tools.ok', description: 'Answers', effect: 'read', invoke: async () => 1 }),
  capability({ name: 'tools.withheld', description: 'Is not granted', effect: 'read', invoke: () => 1 }),
  capability({ name: 'vault.open', description: 'Is not granted', effect: 'read', invoke: () => 1 }),
]
const grants = ['tools.fail', 'tools.failNow', 'tools.ok']

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime({ capabilities: tools })
})
afterAll(() => runtime.close())

type Failed = Extract<Outcome, { status: 'failed' }>

async function failureOf(source: string, form: ProgramForm = 'auto'): Promise<Failed> {
  const outcome = await runtime.run(source, { grants, form })
  if (outcome.status !== 'failed') throw new Error(`It ended as ${outcome.status}.`)
  return outcome
}
const whereOf = async (source: string, form?: ProgramForm): Promise<string> => {
  const { error } = await failureOf(source, form)
  return `${error.position?.line}:${error.position?.column} ${error.message}`
}

describe('a program that ends too early', () => {
  it.each<[string, string, ProgramForm]>([
    ['foo(', '1:5', 'script'],
    ['foo(', '1:5', 'body'],
    ['foo(', '1:5', 'module'],
    ['foo(', '1:5', 'auto'],
    ['async () => {\n  const a = {\n    b: 1,\n', '3:10', 'auto'],
    ['async (input) => {\n  return tools.ok(input', '2:24', 'auto'],
    ['export default async () => {', '1:29', 'auto'],
    ['return [1,\n2, // and so on\n\n', '2:16', 'auto'],
    ['return (1', '1:10', 'auto'],
    ['return {', '1:9', 'auto'],
    ['return `${"é😀"', '1:15', 'auto'],
    ['if (input) {\n  return 1', '2:11', 'auto'],
    ['try { x }', '1:10', 'script'],
    ['import a from', '1:14', 'auto'],
  ])('%j is told so, and where its end is (%s, %s)', async (source, place, form) => {
    expect(await whereOf(source, form)).toBe(`${place} unexpected end of the program`)
    expect((await failureOf(source, form)).error.stack).toBe(`    at program.js:${place}`)
  })

  it('within a text or a comment is told where that began', async () => {
    for (const form of ['script', 'body', 'module'] as const) {
      expect(await whereOf('1;\nconst a = `b', form)).toBe('2:11 unexpected end of string')
      expect(await whereOf('1;\n/* b', form)).toBe('2:1 unexpected end of comment')
    }
  })

  it('and another mistake is told of the mistake, within its source', async () => {
    expect(await whereOf('return 1; let a; let a')).toBe('1:23 invalid redefinition of lexical identifier')
    expect(await whereOf('return ++1')).toBe('1:11 invalid increment/decrement operand')
  })
})

describe('a body with a bracket too many', () => {
  it.each([
    ['return 1\n}', '2:1'],
    ['return 1\n});', '2:1'],
    ['if (input) { return 1 }}\nreturn 5', '1:24'],
    ['}', '1:1'],
    ['return 1 } (foo)', '1:10'],
  ])('%j is told of its own bracket (%s)', async (source, place) => {
    expect(await whereOf(source, 'body')).toBe(`${place} unexpected token in expression: '}'`)
  })
})

describe('a failed call that nobody caught', () => {
  it.each([
    ['const a = 1\n  await tools.fail(a)', '2:19', 'a script'],
    ['const a = 1\nreturn await tools.fail(a)', '2:24', 'a body'],
    ['return await tools.fail()', '1:24', 'the first line of a body'],
    ['async () => {\n  const a = await tools.fail()\n  return a\n}', '2:29', 'a function'],
    ['export default await tools.fail()', '1:32', 'a module'],
    ['const f = async () => {\n  await tools.fail()\n}\nawait f()', '2:19', 'a function in a script'],
    ['await tools.ok()\nawait Promise.all([tools.ok(), tools.fail()])', '2:18', 'Promise.all'],
    ['const f = () =>\n  tools.failNow()\nf()', '2:16', 'a sync call'],
  ])('%j says where it was thrown (%s, %s)', async (source, place) => {
    const { error } = await failureOf(source)
    const { line, column } = error.position ?? {}
    expect(`${line}:${column}`).toBe(place)
    expect(error.code).toBe('capability_failed')
    expect(JSON.stringify(error)).not.toMatch(/hunter2|10\.0\.0\.7|\.ts|setup/)
  })

  it('has frames of the guest alone, and the same fuel in every thread', async () => {
    const source = 'async function outer() {\n  await tools.fail()\n}\nawait outer()'
    const ended: Outcome[] = []
    for (const thread of ['host', 'host', 'worker'] as const) {
      ended.push(await runtime.run(source, { grants, thread, seed: 1, stateDigest: true }))
    }
    const [first, ...others] = ended.map(({ usage, stateDigest, ...rest }) => ({
      fuel: usage.fuel,
      stateDigest,
      error: (rest as Failed).error,
    }))
    expect(first?.error.stack).toBe('    at outer (program.js:2:19)')
    for (const other of others) expect(other).toEqual(first)
  })

  it('is text to the guest before it is thrown, too', async () => {
    const source = 'return await tools.fail().catch((e) => [typeof e.stack, Object.keys(e).join()])'
    expect(await runtime.run(source, { grants })).toMatchObject({ value: ['string', 'code'] })
  })
})

describe('a line for the shell', () => {
  it.each([
    ['1 + 1', 'script'],
    ['return 2', 'auto'],
    ['return 2', 'body'],
    ['async () => 2', 'auto'],
    ['export default 2', 'module'],
  ] as const)('stands before %j (%s)', async (source, form) => {
    expect(await runtime.run(`#!/usr/bin/env caisson\n${source}`, { form })).toMatchObject({ value: 2 })
  })

  it('moves no position', async () => {
    for (const form of ['script', 'body', 'module'] as const) {
      expect(await whereOf('#!/usr/bin/env caisson\n  null.x', form)).toMatch(/^2:7 /)
    }
  })
})

describe('a stack that a guest looks at itself', () => {
  it.each([
    ['script', 'new Error("m").stack', '1:10'],
    ['script', '\n  new Error("m").stack', '2:12'],
    ['body', '\n  return new Error("m").stack', '2:19'],
    ['module', 'export default new Error("m").stack', '1:25'],
    // What stands before a body has to stand in its first line, and nothing takes the columns back.
    ['body', 'return new Error("m").stack', `1:${17 + 25}`],
  ] as const)('%s %j: %s', async (form, source, place) => {
    expect(await runtime.run(source, { form })).toMatchObject({
      value: expect.stringContaining(`.js:${place})`),
    })
  })
})

describe('a capability that was not granted', () => {
  it.each([
    ['return await vault.open()', 'vault.open'],
    ['const v = vault', 'vault.open'],
    ['async () => {\n  await tools.ok()\n  return await tools\n    .withheld({ a: 1 })\n}', 'tools.withheld'],
  ])('%j is named to the host', async (source, name) => {
    const { hint, error } = await failureOf(source)
    expect(hint).toBe(`${name} exists and this guest has no grant for it: add '${name}' to grants.`)
    expect(JSON.stringify(error)).not.toContain('grant')
  })

  it('or that is misspelt is named to the host', async () => {
    const { hint, error } = await failureOf('const a = 1\nreturn await tools.faill({ a })')
    expect(hint).toBe('tools.faill is no capability; did you mean tools.fail?')
    expect(error.message).toBe('not a function')
    expect((await failureOf('async () => tools.okay.now()')).hint).toMatch(
      /^tools\.okay\.now is no capability; /,
    )
  })

  it('is named to nobody where the program failed for another reason', async () => {
    expect((await failureOf('return null.x')).hint).toBeUndefined()
    expect((await failureOf('return nothing.open()')).hint).toBeUndefined()
    expect((await failureOf('await tools.fail()')).hint).toBeUndefined()
  })

  it('is nothing to the guest', async () => {
    const source = `
      const said = []
      try { vault.open() } catch (e) { said.push(String(e)) }
      try { tools.withheld() } catch (e) { said.push(String(e)) }
      return [...said, typeof vault, Object.keys(tools).join(), 'withheld' in tools]`
    expect(await runtime.run(source, { grants })).toMatchObject({
      value: [
        "ReferenceError: 'vault' is not defined",
        'TypeError: not a function',
        'undefined',
        'fail,failNow,ok',
        false,
      ],
    })
  })

  it('is named in step-by-step runs, too', async () => {
    const guest = await runtime.start('await tools.ok(); vault.open()', { grants })
    await guest.invoke(1)
    expect(guest.outcome).toMatchObject({
      status: 'failed',
      hint: expect.stringMatching(/^vault\.open exists/),
    })
    guest.dispose()
  })
})

describe('what the embedder hears of a failed capability', () => {
  const late = capability({
    name: 'tools.late',
    description: 'Never answers',
    effect: 'read',
    timeoutMs: 20,
    invoke: () => new Promise(() => {}),
  })
  const wrong = capability({
    name: 'tools.wrong',
    description: 'Answers with text',
    effect: 'read',
    output: z.object({ price: z.number() }),
    invoke: () => ({ price: 'much' }) as unknown as { price: number },
  })
  const large = capability({
    name: 'tools.large',
    description: 'Answers with too much',
    effect: 'read',
    invoke: () => 'x'.repeat(2e7),
  })

  async function heardOf(program: string, more: Partial<RuntimeOptions> = {}): Promise<CapabilityFailure[]> {
    const heard: CapabilityFailure[] = []
    const own = await openRuntime({
      capabilities: [...tools, late, wrong, large],
      onCapabilityError: (failure) => heard.push(failure),
      ...more,
    })
    await own.run(program, { grants: [...grants, 'tools.late', 'tools.wrong', 'tools.large'] })
    await own.close()
    return heard
  }

  it('is the cause as it was thrown, of awaited and of sync calls, also where the guest catches', async () => {
    const heard = await heardOf(`
      await tools.ok()
      try { await tools.fail() } catch {}
      try { tools.failNow() } catch {}`)
    expect(heard).toEqual([
      { capability: 'tools.fail', callId: 2, code: 'capability_failed', cause: expect.any(Error) },
      { capability: 'tools.failNow', callId: 0, code: 'capability_failed', cause: expect.any(Error) },
    ])
    for (const { cause } of heard) expect((cause as Error).message).toContain('hunter2')
  })

  it.each([
    ['tools.late', 'timeout', /did not answer within 20 ms/],
    ['tools.wrong', 'invalid_result', /price: /],
    ['tools.large', 'result_too_large', /bytes/],
  ])('is said of %s: %s', async (name, code, cause) => {
    const [failure, ...others] = await heardOf(`await ${name}().catch(() => {})`)
    expect(others).toEqual([])
    expect(failure).toMatchObject({ capability: name, callId: 1, code })
    expect(failure?.cause instanceof Error ? failure.cause.message : failure?.cause).toMatch(cause)
  })

  it('is nothing where nothing of the host failed', async () => {
    expect(await heardOf('await tools.ok(); null.x')).toEqual([])
  })

  it.each<[string, () => unknown]>([
    ['throws', fails],
    ['rejects', async () => fails()],
  ])('changes nothing when the listener %s, and telemetry has no causes', async (_, listener) => {
    const events: unknown[] = []
    const own = await openRuntime({
      capabilities: tools,
      onCapabilityError: listener,
      telemetry: {
        event: (name, attributes) => {
          if (name !== 'guest.live') events.push([name, attributes])
          fails()
        },
      },
    })
    const outcome = await own.run('return await tools.fail().catch((e) => e.code)', { grants })
    expect(outcome).toMatchObject({ status: 'completed', value: 'capability_failed' })
    expect(events).toEqual([['capability.failed', { capability: 'tools.fail', code: 'capability_failed' }]])
    await own.close()
  })

  it('must be a function', async () => {
    await expect(openRuntime({ onCapabilityError: {} as never })).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { option: 'onCapabilityError' },
    })
  })
})

describe('a capability that waits for its own guest', () => {
  it.each(['settle', 'invoke'] as const)('by %s ends at its timeout, and the guest goes on', async (way) => {
    let guest: Guest | undefined
    const waits = capability({
      name: 'tools.waits',
      description: 'Answers another call of its guest, and waits for what comes of it',
      effect: 'read',
      timeoutMs: 50,
      invoke: () => (way === 'settle' ? guest?.settle(2, 5) : guest?.invoke(2)),
    })
    const own = await openRuntime({ capabilities: [waits, ...tools] })
    const source = 'return await Promise.all([tools.waits().catch((e) => e.code), tools.ok()])'
    guest = await own.start(source, { grants: ['tools.waits', 'tools.ok'] })
    expect(await guest.invoke(1)).toBe('timeout')
    await expect
      .poll(() => guest?.outcome)
      .toMatchObject({
        status: 'completed',
        value: ['timeout', way === 'settle' ? 5 : 1],
      })
    await own.close()
  })

  it('by disposing it ends it', async () => {
    let guest: Guest | undefined
    const ends = capability({
      name: 'tools.ends',
      description: 'Disposes its guest',
      effect: 'read',
      invoke: () => guest?.dispose(),
    })
    const own = await openRuntime({ capabilities: [ends] })
    guest = await own.start('await tools.ends()', { grants: ['tools.ends'] })
    await guest.invoke(1)
    expect(guest.outcome).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
    await own.close()
  })
})

describe('an answer by hand that is wrong', () => {
  it('is thrown to the embedder, and the guest goes on waiting', async () => {
    const price = capability({
      name: 'tools.price',
      description: 'The price',
      effect: 'read',
      output: z.object({ price: z.number() }),
      invoke: () => ({ price: 1 }),
    })
    const own = await openRuntime({ capabilities: [price] })
    const guest = await own.start('return (await tools.price()).price', { grants: ['tools.price'] })
    await expect(guest.settle(1, { price: 'much' })).rejects.toMatchObject({
      name: 'CaissonError',
      code: 'invalid_result',
      message: expect.stringMatching(/^This value cannot answer call 1 of "tools\.price": .*price/),
    })
    expect(guest.pending.map(({ id }) => id)).toEqual([1])
    expect(await guest.settle(1, { price: 9 })).toBeUndefined()
    expect(guest.outcome).toMatchObject({ status: 'completed', value: 9 })
    await own.close()
  })
})

describe('an end at a limit', () => {
  const MiB = 1024 * 1024
  it.each<[string, string, Partial<Limits>, string]>([
    [
      'fuel',
      'while (1);',
      { fuel: 2_000_000 },
      'The guest used up its fuel of 2,000,000 units (limit fuel).',
    ],
    [
      'memory',
      'const a = []; for (;;) a.push(new Array(1e4))',
      { memoryBytes: 2 * MiB },
      'The guest asked for more memory than its 2 MiB (limit memoryBytes).',
    ],
    [
      'stack',
      '(function f() { f() })()',
      {},
      'The guest recursed deeper than its 768 KiB of stack (limit stackBytes).',
    ],
    [
      'wall',
      'while (1);',
      { wallMs: 40, fuel: 1e12 },
      'The guest was active for all of its 40 ms (limit wallMs).',
    ],
    [
      'calls',
      'for (;;) await tools.ok()',
      { calls: 3 },
      'The guest asked for more than its 3 calls (limit calls).',
    ],
    [
      'bytes',
      'await tools.ok("x".repeat(5000))',
      { bytesOut: 4_096 },
      'More than 4 KiB would have gone out of the guest (limit bytesOut).',
    ],
    [
      'bytes',
      '"x".repeat(5000)',
      { bytesOut: 4_097 },
      'More than 4,097 bytes would have gone out of the guest (limit bytesOut).',
    ],
    [
      'bytes',
      '1;'.repeat(100),
      { bytesIn: 100 },
      'More than 100 bytes would have gone into the guest (limit bytesIn).',
    ],
  ])(
    '%s: says the number, its unit and the setting, in every thread',
    async (limit, source, limits, message) => {
      for (const thread of ['host', 'worker'] as const) {
        expect(await runtime.run(source, { grants, limits, thread })).toMatchObject({
          status: 'exhausted',
          limit,
          message,
        })
      }
    },
  )
})
