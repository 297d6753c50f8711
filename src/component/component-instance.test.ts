import { describe, expect, it } from 'vitest'
import { DISPOSE } from '../base/disposal.ts'
import { openSample, prepareSample, resultOf } from './component.testkit.ts'
import type { ComponentImports } from './component-imports.ts'
import type { ComponentInstance } from './component-instance.ts'
import { GuestExit } from './component-outcome.ts'

const hostCall = (name: string, json: string): string => `${name}(${json})`
const HOST = { $root: { hostCall } }

describe('every type of WIT', () => {
  it.each<[string, readonly unknown[], unknown]>([
    ['add-u8', [200, 55], 255],
    ['add-s8', [-100, -28], -128],
    ['add-u16', [65_000, 535], 65_535],
    ['add-s16', [-32_000, -768], -32_768],
    ['add-u32', [4_000_000_000, 294_967_295], 4_294_967_295],
    ['add-s32', [-2_000_000_000, -147_483_648], -2_147_483_648],
    ['add-u64', [2n ** 63n, 2n ** 63n - 1n], 2n ** 64n - 1n],
    ['add-u64', [1, 2n], 3n],
    ['add-s64', [-(2n ** 62n), -(2n ** 62n)], -(2n ** 63n)],
    ['add-f32', [0.5, 0.25], 0.75],
    ['add-f64', [0.1, 0.2], 0.1 + 0.2],
    ['add-f64', [Number.POSITIVE_INFINITY, 1], Number.POSITIVE_INFINITY],
    ['negate', [false], true],
    ['next-char', ['a'], 'b'],
    ['next-char', ['\u{1f600}'], '\u{1f601}'],
    ['next-char', ['\ud7ff'], '\ue000'],
    ['concat', ['grüße ', 'мир \u{1f30d} \0'], 'grüße мир \u{1f30d} \0'],
    ['concat', ['', ''], ''],
    ['concat', ['x'.repeat(70_000), 'é'], `${'x'.repeat(70_000)}é`],
    ['reverse', [[1, 2, 4_294_967_295]], Uint32Array.of(4_294_967_295, 2, 1)],
    ['reverse', [Uint32Array.of(7, 8)], Uint32Array.of(8, 7)],
    ['lengths', [['', 'ab', 'é']], Uint32Array.of(0, 2, 2)],
    ['mirror', [{ x: 1, y: -2 }], { x: -2, y: 1 }],
    ['area', [{ tag: 'empty' }], 0],
    ['area', [{ tag: 'label', val: 'abc' }], 3],
    ['morph', [{ tag: 'empty' }], { tag: 'empty' }],
    ['next-colour', ['red'], 'green'],
    ['toggle', [{ read: true }], { read: false, write: true, execute: true }],
    ['half', [undefined], undefined],
    ['half', [8], 4],
    ['parse', ['-12'], { tag: 'ok', val: -12 }],
    ['check', [true], { tag: 'ok' }],
    ['check', [false], { tag: 'err' }],
    ['swap', [[7, 'x']], ['x', 7]],
    ['sum', Array.from({ length: 17 }, (_, index) => index), 136n],
  ])('%s of %o', async (name, args, wanted) => {
    const instance = await openSample('types-c')
    expect(await resultOf(instance, name, ...args)).toEqual(wanted)
  })

  it('comes back through variants whose cases share their core values', async () => {
    const instance = await openSample('types-c')
    const label = await resultOf(instance, 'morph', { tag: 'circle', val: 2 })
    expect(label).toMatchObject({ tag: 'label', val: expect.any(String) })
    expect(await resultOf(instance, 'morph', label)).toMatchObject({
      tag: 'polygon',
      val: [expect.anything()],
    })
    const polygon = {
      tag: 'polygon',
      val: [
        { x: 0, y: 0 },
        { x: 4, y: 0 },
        { x: 0, y: 3 },
      ],
    }
    expect(await resultOf(instance, 'morph', polygon)).toEqual({ tag: 'circle', val: 3 })
    expect(await resultOf(instance, 'area', polygon)).toBe(12)
  })

  it('gives records of strings and lists', async () => {
    const instance = await openSample('types-c')
    const person = { name: 'Ada', age: 36, tags: ['a', ''] }
    expect(await resultOf(instance, 'birthday', person)).toEqual({ ...person, age: 37 })
  })
})

describe('arguments', () => {
  it.each<[string, readonly unknown[], string, string]>([
    ['add-u8', [256, 0], 'args[0]', '0 to 255'],
    ['add-u8', [1.5, 0], 'args[0]', 'whole number'],
    ['add-u8', [0], 'args', '2 arguments'],
    ['add-s64', [2n ** 63n, 0n], 'args[0]', 's64'],
    ['add-u64', [2 ** 60, 0n], 'args[0]', 'safe whole number'],
    ['negate', [0], 'args[0]', 'true or false'],
    ['next-char', ['ab'], 'args[0]', 'one character'],
    ['next-char', ['\ud800'], 'args[0]', 'one character'],
    ['concat', ['a', '\udc00'], 'args[1]', 'lone surrogates'],
    ['reverse', [[1, -1]], 'args[0][1]', '0 to'],
    ['reverse', [Int32Array.of(1)], 'args[0]', 'Uint32Array'],
    ['lengths', [['a', 5]], 'args[0][1]', 'a string'],
    ['mirror', [{ x: 1 }], 'args[0].y', 'whole number'],
    ['mirror', [{ x: 1, y: 2, z: 3 }], 'args[0].z', 'x, y'],
    ['mirror', [Object.create({ x: 1, y: 2 })], 'args[0].x', 'undefined'],
    ['birthday', [{ name: 'A', age: 3, tags: ['a', null] }], 'args[0].tags[1]', 'null'],
    ['morph', [{ tag: 'square' }], 'args[0].tag', '"circle"'],
    ['morph', [{ tag: 'constructor' }], 'args[0].tag', '"circle"'],
    ['morph', [{ tag: 'empty', val: 1 }], 'args[0].val', 'nothing'],
    ['morph', [{ tag: 'polygon', val: [{ x: 0, y: '1' }] }], 'args[0].val[0].y', 'whole number'],
    ['next-colour', ['pink'], 'args[0]', '"red"'],
    ['toggle', [{ admin: true }], 'args[0].admin', 'read, write'],
    ['half', ['2'], 'args[0]', 'whole number'],
    ['swap', [[1]], 'args[0]', 'array of 2'],
  ])('of %s that are %o are refused at %s', async (name, args, path, says) => {
    const instance = await openSample('types-c')
    await expect(instance.call(name, args)).rejects.toMatchObject({
      code: 'invalid_arguments',
      details: { path },
      message: expect.stringContaining(says),
    })
    // invariant 4: the instance is as it was.
    expect(await resultOf(instance, 'add-u8', 1, 2)).toBe(3)
  })

  it('larger than the limit are refused before anything of them is in the guest', async () => {
    const instance = await openSample('types-c', {}, { bytesIn: 1_000 })
    await expect(instance.call('reverse', [new Uint32Array(300)])).rejects.toMatchObject({
      code: 'value_too_large',
    })
    expect(await resultOf(instance, 'add-u8', 1, 2)).toBe(3)
  })

  it('of a function that is not there are of no interest', async () => {
    const instance = await openSample('types-c')
    await expect(instance.call('add_u8', [1, 2])).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('add-u8'),
    })
    await expect(instance.call('__proto__')).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe.each(['hostile-c', 'hostile-as'])('a hostile guest (%s)', (sample) => {
  const run = async (
    instance: ComponentInstance,
    which: string,
    text = 'text',
  ): ReturnType<ComponentInstance['call']> => instance.call('run', [which, text])

  it.each<[string, object]>([
    ['loop', { status: 'exhausted', limit: 'fuel' }],
    ['trap', { status: 'failed', error: { code: 'trapped' } }],
    ['pointer', { status: 'failed', error: { code: 'trapped' } }],
    ['length', { status: 'failed', error: { code: 'trapped' } }],
    ['wrap', { status: 'failed', error: { code: 'trapped' } }],
    ['encoding', { status: 'failed', error: { code: 'trapped' } }],
    ['discriminant', { status: 'failed', error: { code: 'trapped' } }],
    ['unaligned', { status: 'failed', error: { code: 'trapped' } }],
    ['host-realloc-trap', { status: 'failed', error: { code: 'trapped' } }],
    ['host-pointer', { status: 'failed', error: { code: 'trapped' } }],
    ['host-loop', { status: 'exhausted', limit: 'fuel' }],
    ['post-loop', { status: 'exhausted', limit: 'fuel' }],
  ])('that does "%s" ends, and nobody else', async (which, end) => {
    const instance = await openSample(sample, HOST, { fuel: 10_000_000 })
    const neighbour = await openSample(sample, HOST)
    expect(await run(instance, which)).toMatchObject(end)
    // invariant 3
    expect(instance.state).toBe('over')
    await expect(run(instance, 'none')).rejects.toMatchObject({ code: 'isolate_destroyed' })
    expect(await run(neighbour, 'none')).toMatchObject({
      status: 'completed',
      value: { tag: 'ok', val: 'text' },
    })
  })

  it.each(['realloc-trap', 'realloc-beyond', 'realloc-loop'])(
    'whose allocator is broken (%s) ends with the next call',
    async (which) => {
      const instance = await openSample(sample, HOST, { fuel: 10_000_000 })
      expect(await run(instance, which)).toMatchObject({ status: 'completed' })
      expect((await run(instance, 'none')).status).toBe(which === 'realloc-loop' ? 'exhausted' : 'failed')
      expect(instance.state).toBe('over')
    },
  )

  it('recurses until its stack ends, and the host does not', async () => {
    const instance = await openSample(sample, HOST)
    const outcome = await run(instance, 'recursion')
    // A shadow stack in memory may end before the limit does.
    expect(['exhausted', 'failed']).toContain(outcome.status)
  })

  it('gets no more memory than its cap', async () => {
    const instance = await openSample(sample, HOST, { fuel: 2_000_000_000 })
    const outcome = await run(instance, 'flood')
    expect(outcome.usage.memoryBytes).toBeLessThanOrEqual(256 * 65_536)
    expect(outcome).toMatchObject({
      status: 'completed',
      value: { tag: 'ok', val: expect.stringMatching(/^1[0-6]$/) },
    })
  })

  it('may return a string that ends where memory ends, and a large one', async () => {
    const instance = await openSample(sample, HOST, { fuel: 2_000_000_000 })
    expect(await run(instance, 'edge')).toMatchObject({ value: { tag: 'ok', val: 'edge' } })
    expect(await run(instance, 'large')).toMatchObject({
      value: { tag: 'ok', val: expect.stringMatching(/^x{1048576}$/) },
    })
  })

  it('has no more taken out of it than the limit', async () => {
    const instance = await openSample(sample, HOST, { bytesOut: 100_000, fuel: 2_000_000_000 })
    expect(await run(instance, 'large')).toMatchObject({ status: 'exhausted', limit: 'bytes' })
  })
})

describe('calls', () => {
  it('are refused while one is under way, which goes on (invariant 2)', async () => {
    const instance = await openSample('tool-c', HOST)
    const first = instance.call('run', ['a'])
    await expect(instance.call('run', ['b'])).rejects.toMatchObject({ code: 'busy' })
    expect(await first).toMatchObject({ status: 'completed' })
    expect(await resultOf(instance, 'totals')).toEqual([1, expect.any(Number)])
  })

  it('from inside an import are refused too', async () => {
    let inner: unknown
    const instance: ComponentInstance = await openSample('tool-c', {
      $root: {
        hostCall: () => {
          try {
            instance.callNow('totals')
          } catch (error) {
            inner = error
          }
          return 'ok'
        },
      },
    })
    expect(await instance.call('run', ['a'])).toMatchObject({ status: 'completed' })
    expect(inner).toMatchObject({ code: 'busy' })
  })

  it('whose import throws end, and tell the guest and its caller nothing of it', async () => {
    const instance = await openSample('tool-c', {
      $root: {
        hostCall: () => {
          throw new Error('/secret/path')
        },
      },
    })
    const outcome = await instance.call('run', ['a'])
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'capability_failed' } })
    expect(JSON.stringify(outcome)).not.toContain('secret')
    expect(instance.fault).toMatchObject({ message: '/secret/path' })
  })

  it('whose import gives another type than its own end', async () => {
    const instance = await openSample('tool-c', { $root: { hostCall: () => ({ tag: 'ok', val: 5 }) } })
    expect(await instance.call('run', ['a'])).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_result' },
    })
  })

  it('get what an import refuses as a value', async () => {
    const instance = await openSample('tool-c', {
      $root: {
        hostCall: () => {
          throw Object.assign(new Error('x'), { payload: 'refused' })
        },
      },
    })
    expect(await resultOf(instance, 'run', 'a')).toEqual({
      tag: 'err',
      val: expect.stringContaining('refused'),
    })
  })

  it('that exit are an outcome', async () => {
    const instance = await openSample('tool-c', {
      $root: {
        hostCall: () => {
          throw new GuestExit(7)
        },
      },
    })
    expect(await instance.call('run', ['a'])).toMatchObject({ status: 'exited', exitCode: 7 })
    await expect(instance.call('totals')).rejects.toMatchObject({ code: 'isolate_destroyed' })
  })

  it('cost the same fuel for the same work', async () => {
    const outcomes = await Promise.all(
      [1, 2].map(async () => (await openSample('tool-c', HOST)).call('run', ['a\nb'])),
    )
    expect(outcomes[0]?.usage.fuel).toBeGreaterThan(0)
    expect(outcomes[0]?.usage.fuel).toBe(outcomes[1]?.usage.fuel)
  })

  it('can be aborted before they begin, and while the guest works', async () => {
    const instance = await openSample('tool-c', HOST)
    await expect(instance.call('run', ['a'], { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'aborted',
    })
    const controller = new AbortController()
    const hostile = await openSample('hostile-c', {
      $root: {
        hostCall: () => {
          controller.abort()
          return ''
        },
      },
    })
    expect(await hostile.call('run', ['host-loop', ''], { signal: controller.signal })).toMatchObject({
      status: 'failed',
      error: { code: 'aborted' },
    })
  })
})

describe('imports', () => {
  it('that nobody grants are listed, all of them, before anything runs', async () => {
    const error = await openSample('counter-user-c').catch((refused: unknown) => refused)
    expect(error).toMatchObject({
      code: 'missing_imports',
      details: {
        missing: [
          { interface: 'caisson:counters/counters@0.1.0', name: '[constructor]counter' },
          { interface: 'caisson:counters/counters@0.1.0', name: '[method]counter.add' },
          { interface: 'caisson:counters/counters@0.1.0', name: '[static]counter.merge' },
        ],
      },
    })
  })

  it('are not found on prototypes', async () => {
    await expect(
      openSample('tool-c', { $root: Object.create({ hostCall }) as object as Record<string, unknown> }),
    ).resolves.toBeDefined()
    await expect(openSample('tool-c', { constructor: {} })).rejects.toMatchObject({ code: 'missing_imports' })
  })
})

describe('resources', () => {
  const INTERFACE = 'caisson:counters/counters@0.1.0'

  /** What one component exports, for another one. */
  function exportsOf(owner: ComponentInstance): ComponentImports {
    return {
      func: (from, name) =>
        owner.exports.some((one) => one.name === `${from}#${name}`)
          ? (args) => {
              const outcome = owner.callNow(`${from}#${name}`, args)
              if (outcome.status !== 'completed') throw new Error(outcome.status)
              return outcome.value
            }
          : undefined,
      dropResource: (_from, _name, resource) => (resource as Disposable)[DISPOSE](),
    }
  }

  it('are made, used and given back by the embedder', async () => {
    const owner = await openSample('counter-owner-c')
    const counter = await resultOf(owner, `${INTERFACE}#[constructor]counter`, 5)
    expect(await resultOf(owner, `${INTERFACE}#[method]counter.add`, counter, 3)).toBe(8)
    expect(await resultOf(owner, `${INTERFACE}#alive`)).toBe(1)
    const other = await resultOf(owner, `${INTERFACE}#[constructor]counter`, 1)
    for (const twice of [counter, other])
      await expect(owner.call(`${INTERFACE}#[static]counter.merge`, [twice, twice])).rejects.toMatchObject({
        code: 'invalid_arguments',
        details: { path: 'args[1]' },
      })
    const sum = (await resultOf(owner, `${INTERFACE}#[static]counter.merge`, counter, other)) as Disposable
    expect(await resultOf(owner, `${INTERFACE}#alive`)).toBe(1)
    // Both were given away.
    await expect(owner.call(`${INTERFACE}#[method]counter.value`, [counter])).rejects.toMatchObject({
      code: 'invalid_arguments',
    })
    sum[DISPOSE]()
    sum[DISPOSE]()
    expect(await resultOf(owner, `${INTERFACE}#alive`)).toBe(0)
  })

  it('of one type are shared by two components', async () => {
    const owner = await openSample('counter-owner-c')
    const user = await openSample('counter-user-c', exportsOf(owner))
    const counter = await resultOf(user, 'make', 10)
    expect(await resultOf(user, 'count', counter, 4)).toBe(14)
    const total = await resultOf(user, 'total', [counter, await resultOf(user, 'make', 1)])
    expect(await resultOf(owner, `${INTERFACE}#[method]counter.value`, total)).toBe(15)
    expect(await resultOf(user, 'keep', 3)).toEqual(expect.any(Number))
  })

  it('that are dropped twice end the guest that did it', async () => {
    const owner = await openSample('counter-owner-c')
    const user = await openSample('counter-user-c', exportsOf(owner))
    expect(await user.call('drop-twice')).toMatchObject({ status: 'failed', error: { code: 'trapped' } })
    expect(await resultOf(owner, `${INTERFACE}#alive`)).toBe(0)
  })

  it('of somebody else are refused', async () => {
    const [one, other] = [await openSample('counter-owner-c'), await openSample('counter-owner-c')]
    const counter = await resultOf(one, `${INTERFACE}#[constructor]counter`, 5)
    for (const foreign of [counter, {}, null])
      await expect(other.call(`${INTERFACE}#[method]counter.add`, [foreign, 1])).rejects.toMatchObject({
        code: 'invalid_arguments',
      })
    expect(await resultOf(other, `${INTERFACE}#alive`)).toBe(0)
  })
})

describe('what a component is', () => {
  it('is known without running it', async () => {
    const { shape } = await prepareSample('tool-c')
    expect(shape.imports.map(({ interface: from, name }) => `${from}#${name}`)).toEqual(['$root#host-call'])
    expect(shape.exports.map(({ name }) => name)).toEqual(['run', 'totals'])
  })
})

describe('values of the host', () => {
  it('are copied when the call is made: also of a Buffer (invariant 1 of check-value)', async () => {
    const bytes = Buffer.from([1, 2, 3])
    const { checkResult } = await import('./abi/check-value.ts')
    const { listType, primitiveType } = await import('./abi/wit-type.ts')
    const { ValueBudget } = await import('./abi/value-budget.ts')
    const copy = checkResult(
      listType(primitiveType('u8')),
      bytes,
      new ValueBudget({ bytes: 100, nodes: 100 }),
    )
    bytes[0] = 9
    expect(copy).toEqual(Uint8Array.of(1, 2, 3))
  })

  it('leave nothing behind in 100,000 calls', async () => {
    const instance = await openSample('tool-c', HOST, { fuel: 2 ** 52 })
    for (let call = 0; call < 1_000; call += 1) instance.callNow('run', ['a\nb'])
    const before = instance.memoryBytes
    for (let call = 0; call < 100_000; call += 1) instance.callNow('run', ['a\nb'])
    expect(instance.memoryBytes).toBe(before)
    expect(await resultOf(instance, 'totals')).toEqual([101_000, expect.any(Number)])
  })
})
