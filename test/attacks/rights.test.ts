/**
 * Attacks on what a right means: conditions that would be overlooked, answered later or taken back in between,
 * keys that would be the same, effects whose record would lie.
 */
import { describe, expect, it } from 'vitest'
import type { Capability, InvokeContext } from '../../src/capability/capability.ts'
import { checkCapability } from '../../src/capability/define-capability.ts'
import { MemoryLog, testGate } from '../../src/capability/gate.testkit.ts'
import { openRuntime } from '../../src/entry/node.ts'

function tool(invoke: (input: unknown, context: InvokeContext) => unknown, more: object = {}): Capability {
  return checkCapability({ name: 'a.tool', description: 'x', effect: 'read', invoke, ...more } as Capability)
}

const codeOf = ({ answer }: { answer: object }): string => {
  const { ok, error } = answer as { ok: boolean; error?: { code: string } }
  return ok ? 'ok' : String(error?.code)
}

const refuseAll = {
  '~standard': { version: 1, vendor: 'x', validate: () => ({ issues: [{ message: 'no' }] }) },
}

describe('conditions that are inherited', () => {
  it('hold: a grant that is an instance of a class', async () => {
    class Rule {
      readonly capability = 'a.tool'
      constrain(): string {
        return 'never'
      }
    }
    class Spent {
      readonly capability = 'a.tool'
      get calls(): number {
        return 0
      }
    }
    expect(codeOf(await testGate([tool(() => 1)], [new Rule()]).call('a.tool'))).toBe('denied')
    expect(codeOf(await testGate([tool(() => 1)], [new Spent()]).call('a.tool'))).toBe('budget_exhausted')
    const derived = Object.create(
      { constrain: () => false },
      {
        capability: { value: 'a.tool', enumerable: true },
      },
    )
    expect(codeOf(await testGate([tool(() => 1)], [derived]).call('a.tool'))).toBe('denied')
  })

  it('hold: a definition that is an instance of a class', async () => {
    class Tool {
      readonly name = 'a.tool'
      readonly description = 'x'
      readonly effect = 'read'
      get input(): unknown {
        return refuseAll
      }
      invoke(): number {
        return 1
      }
    }
    const gate = testGate([checkCapability(new Tool() as unknown as Capability)])
    expect(codeOf(await gate.call('a.tool'))).toBe('invalid_arguments')
  })

  it('hold: options of a guest', async () => {
    const runtime = await openRuntime({})
    const options = Object.create({ thread: 'nowhere' }) as object
    await expect(runtime.run('1', options)).rejects.toMatchObject({ code: 'invalid_argument' })
    await runtime.close()
  })
})

describe('a constraint', () => {
  it('allows by true alone, not by what is nearly so, and not later', async () => {
    for (const answer of [
      Promise.resolve(true),
      'true',
      1,
      {},
      [],
      new Boolean(true),
      { valueOf: () => true },
      undefined,
      null,
    ]) {
      const rule = { capability: 'a.tool', constrain: () => answer as true }
      expect(codeOf(await testGate([tool(() => 1)], [rule]).call('a.tool'))).toBe('denied')
    }
  })

  it('judges what is invoked, whatever it and the implementation do to it', async () => {
    const seen: unknown[] = []
    const rule = {
      capability: 'a.tool',
      constrain(args: unknown): true {
        const { list } = args as { list: unknown[] }
        try {
          list.push('smuggled')
        } catch {
          // Frozen.
        }
        return true
      },
    }
    const invoke = (args: unknown): void => {
      seen.push(structuredClone(args))
      ;(args as { list: unknown[] }).list.push('later')
    }
    const { call } = testGate([tool(invoke)], [rule])
    const args = { list: [1], toString: 'data', valueOf: 'data' }
    await call('a.tool', args)
    await call('a.tool', args)
    expect(seen).toEqual([args, args])
    expect(args.list).toEqual([1])
  })
})

describe('a right that is taken back', () => {
  it('between two attempts stops the second', async () => {
    let attempts = 0
    const test = testGate([
      tool(
        () => {
          attempts += 1
          test.grants.revoke('a.tool')
          throw new Error('again')
        },
        { retry: { attempts: 3, when: () => true, delayMs: () => 0 } },
      ),
    ])
    expect(codeOf(await test.call('a.tool'))).toBe('revoked')
    expect(attempts).toBe(1)
  })

  it('while an asynchronous schema thinks stops the call', async () => {
    let think: () => void = () => {}
    let invoked = false
    const validate = (value: unknown): Promise<unknown> =>
      new Promise((resolve) => {
        think = () => resolve({ value })
      })
    const input = { '~standard': { version: 1, vendor: 'x', validate } }
    const test = testGate([tool(() => (invoked = true), { input })])
    const calling = test.call('a.tool', 1)
    test.grants.revoke('a.tool')
    think()
    expect(codeOf(await calling)).toBe('revoked')
    expect(invoked).toBe(false)
  })
})

describe('records', () => {
  it('say nothing about an effect that happened and whose result was not looked at before the stop', async () => {
    const log = new MemoryLog()
    const output = { '~standard': { version: 1, vendor: 'x', validate: () => new Promise(() => {}) } }
    let charged = false
    const test = testGate([tool(() => (charged = true), { output })], undefined, { callLog: log })
    const calling = test.call('a.tool')
    await new Promise((resolve) => setTimeout(resolve, 5))
    test.stop.stop()
    expect(codeOf(await calling)).toBe('aborted')
    expect(charged).toBe(true)
    // In doubt, and not "failed": a person or an idempotent repeat decides.
    expect(log.entries).toEqual(['intent 1'])
  })
})

describe('idempotency keys', () => {
  it('differ between calls, guests and runtimes, and are the same for every attempt', async () => {
    const keys: string[][] = []
    const failing = checkCapability({
      name: 'a.tool',
      description: 'x',
      effect: 'read',
      retry: { attempts: 2, when: () => true, delayMs: () => 0 },
      invoke: async (_: unknown, { idempotencyKey, attempt }: InvokeContext) => {
        if (attempt === 1) keys.push([])
        keys.at(-1)?.push(idempotencyKey)
        throw new Error('again')
      },
    } as Capability)
    for (let i = 0; i < 2; i += 1) {
      const runtime = await openRuntime({ capabilities: [failing] })
      for (let j = 0; j < 2; j += 1) {
        await runtime.run('for (let i = 0; i < 2; i++) await a.tool(i).catch(() => {})', {
          grants: ['a.tool'],
        })
      }
      await runtime.close()
    }
    expect(keys.map((attempts) => attempts.length)).toEqual(Array(8).fill(2))
    expect(keys.every(([first, second]) => first === second)).toBe(true)
    expect(new Set(keys.map(([first]) => first)).size).toBe(8)
  })
})
