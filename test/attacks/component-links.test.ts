/** Components made by hand: small bytes that mean much, and modules that do together what none of them may alone. */
import { parse } from '@bytecodealliance/jco-transpile/wasm-tools'
import { afterAll, describe, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'
import { watchHost } from './watch-host.ts'

watchHost()
const runtime: Runtime = await openRuntime()
afterAll(() => runtime.close())

type Options = Parameters<Runtime['openComponent']>[1]
type OpenComponent = Awaited<ReturnType<Runtime['openComponent']>>

async function open(wat: string, options: Options = {}): Promise<OpenComponent> {
  return runtime.openComponent(await parse(wat), options)
}

const many = (count: number, one: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => one(at)).join('\n')

/** Bytes with one name in the place of another as long. */
function renamed(bytes: Uint8Array, from: string, to: string): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1').replaceAll(from, to)
  return new Uint8Array(Buffer.from(text, 'latin1'))
}

describe('small components that mean much', () => {
  it.each([
    [
      'types of instances that hold the one before twice',
      `(component (type $t0 (instance (export "f" (func))))
        ${many(
          18,
          (at) => `(type $t${at + 1} (instance (alias outer 1 $t${at} (type $p))
            (export "a" (instance (type $p))) (export "b" (instance (type $p)))))`,
        )}
        (import "x" (instance (type $t18))))`,
    ],
    [
      'a chain of types as deep as the stack of the host',
      `(component (type $t0 (instance (export "f" (func))))
        ${many(
          6_000,
          (at) =>
            `(type $t${at + 1} (instance (alias outer 1 $t${at} (type $p)) (export "a" (instance (type $p)))))`,
        )}
        (import "x" (instance (type $t6000))))`,
    ],
    [
      'one wide type behind many imports',
      `(component (type $t (instance ${many(1_000, (at) => `(export "f${at}" (type (sub resource)))`)}))
        ${many(1_000, (at) => `(import "i${at}" (instance (type $t)))`)})`,
    ],
    [
      'a component of many types, instantiated many times',
      `(component (component $c ${many(2_000, () => '(type (record (field "a" u8)))')})
        ${many(900, () => '(instance (instantiate $c))')})`,
    ],
    [
      'one wide instance exported many times',
      `(component (core module $m (func (export "f"))) (core instance $m (instantiate $m))
        (func $f (canon lift (core func $m "f")))
        (instance $i ${many(1_000, (at) => `(export "f${at}" (func $f))`)})
        ${many(1_000, (at) => `(export "e${at}" (instance $i))`)})`,
    ],
    [
      'a core module of many exports, instantiated many times',
      `(component (core module $m (func $f) ${many(20_000, (at) => `(export "f${at}" (func $f))`)})
        ${many(200, () => '(core instance (instantiate $m))')})`,
    ],
    [
      'a core module with a table that can grow, instantiated many times',
      `(component (core module $m (table 10 funcref)) ${many(900, () => '(core instance (instantiate $m))')})`,
    ],
  ])('%s: refused', async (_what, wat) => {
    await expect(open(wat)).rejects.toMatchObject({ code: 'unsupported_feature' })
  })

  it('with an error type that holds the one before twice are opened at once', async () => {
    const refuses = {
      name: 'refuses',
      description: 'Fails.',
      effect: 'read' as const,
      inputJsonSchema: { type: 'object' },
      sync: true as const,
      invoke: () => {
        throw new Error('no')
      },
    }
    await using own = await openRuntime({ capabilities: [refuses] })
    const wat = `(component (type $u0 (variant (case "other"))) (import "t0" (type $t0 (eq $u0)))
      ${many(
        60,
        (at) => `(type $u${at + 1} (variant (case "other" $t${at}) (case "b" $t${at})))
          (import "t${at + 1}" (type $t${at + 1} (eq $u${at + 1})))`,
      )}
      (type $r (result (error $t60))) (import "refuses" (func (result $r))))`
    using component = await own.openComponent(await parse(wat), { grants: ['refuses'] })
    expect(component.exports).toEqual([])
  })
})

describe('names', () => {
  const record = `(component (type $i' (record (field "is-admin" bool))) (export $i "inner" (type $i'))
    (type $r' (record (field "aaaproto_" $i) (field "b" u8))) (export $r "rec" (type $r'))
    (core module $m (memory (export "memory") 1) (func (export "go") (result i32) (i32.const 8)))
    (core instance $m (instantiate $m))
    (func (export "go") (result $r) (canon lift (core func $m "go") (memory (core memory $m "memory")))))`

  it('that would be more than a key of a value are refused', async () => {
    const bytes = await parse(record)
    for (const name of ['__proto__', 'a b c d e', 'a\u0001bcdefgh', '-aproto-a', 'aproto--a'])
      await expect(runtime.openComponent(renamed(bytes, 'aaaproto_', name))).rejects.toMatchObject({
        code: 'invalid_component',
      })
    const component = await runtime.openComponent(renamed(bytes, 'aaaproto_', 'to-string'))
    expect(await component.call('go')).toMatchObject({ value: { toString: { isAdmin: false }, b: 0 } })
  })

  it('of a million characters are refused, and never told as a whole', async () => {
    const long = 'a'.repeat(1_000_000)
    for (const wat of [
      `(component (import "${long}" (func)))`,
      `(component (type (record (field "${long}" u8))))`,
      `(component (import "a" (instance $i (export "b" (func)))) (alias export $i "${long}" (func)))`,
      `(component (core module $m) (core instance $m (instantiate $m)) (alias core export $m "${long}" (core func)))`,
    ]) {
      const error = await open(wat).catch((thrown: unknown) => thrown as Error)
      expect(error).toMatchObject({
        code: expect.stringMatching(/^(invalid_component|unsupported_feature)$/),
      })
      expect((error as Error).message.length).toBeLessThan(1_000)
    }
  })

  it('with controls are shown and not obeyed', async () => {
    const wat =
      '(component (import "a" (instance $i (export "b" (func)))) (alias export $i "\\1b[31m\\e2\\80\\ae" (func)))'
    await expect(open(wat)).rejects.toThrow('"\\x1b[31m\\u202e"')
  })
})

describe('several core modules', () => {
  it('have no more memory together than the limit, and what a slice of fuel takes', async () => {
    const component = await open(
      `(component
        (core module $m (memory (export "memory") 0) (func (export "grow")
          (loop $l (br_if $l (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))))
        ${many(20, (at) => `(core instance $i${at} (instantiate $m))`)}
        (core module $all ${many(20, (at) => `(import "i${at}" "grow" (func $f${at}))`)}
          (func (export "all") ${many(20, (at) => `(call $f${at})`)}))
        (core instance $a (instantiate $all ${many(20, (at) => `(with "i${at}" (instance $i${at}))`)}))
        (func (export "all") (canon lift (core func $a "all"))))`,
      { limits: { memoryBytes: 4 * 2 ** 20 } },
    )
    expect(await component.call('all')).toMatchObject({ status: 'exhausted', limit: 'memory' })
    expect(component.memoryBytes).toBeLessThan(8 * 2 ** 20)
  })

  it('pay for work that an exception cuts off, in a module that knows of none', async () => {
    const wat = (thrown: string): string => `(component
      (core module $a (tag $e) (func (export "end") ${thrown}))
      (core instance $a (instantiate $a))
      (core module $b (import "a" "end" (func $end)) (global $g (mut i64) (i64.const 1))
        (func $work (export "work") (param i32)
          ${many(600, () => '(global.set $g (i64.mul (i64.add (global.get $g) (i64.const 3)) (i64.const 7)))')}
          (if (local.get 0) (then (call $work (i32.sub (local.get 0) (i32.const 1)))) (else (call $end)))
          (if (i64.eqz (global.get $g)) (then (global.set $g (i64.const 5))) (else (global.set $g (i64.const 6))))))
      (core instance $b (instantiate $b (with "a" (instance $a))))
      (core module $c (import "b" "work" (func $work (param i32)))
        (func (export "run") try i32.const 300 call $work catch_all end))
      (core instance $c (instantiate $c (with "b" (instance $b))))
      (func (export "run") (canon lift (core func $c "run"))))`
    const returning = await (await open(wat(''))).call('run')
    const throwing = await (await open(wat('(throw $e)'))).call('run')
    expect([returning.status, throwing.status]).toEqual(['completed', 'completed'])
    expect(throwing.usage.fuel).toBeGreaterThan(returning.usage.fuel * 0.9)
  })

  it('that let an exception out have trapped', async () => {
    const component = await open(`(component (core module $a (tag $e) (func (export "f") (throw $e)))
      (core instance $a (instantiate $a)) (func (export "run") (canon lift (core func $a "f"))))`)
    expect(await component.call('run')).toMatchObject({ status: 'failed', error: { code: 'trapped' } })
  })
})

describe('destructors of resources', () => {
  const withDestructor = (body: string): string => `(component
    (import "host" (func $host))
    (core module $d (func (export "end") (param i32) ${body}))
    (core instance $d (instantiate $d))
    (type $r' (resource (rep i32) (dtor (core func $d "end"))))
    (core func $new (canon resource.new $r'))
    (core func $host (canon lower (func $host)))
    (core module $m (import "" "new" (func $new (param i32) (result i32))) (import "" "host" (func $host))
      (func (export "make") (result i32) (call $new (i32.const 42)))
      (func (export "call") (call $host))
      (func (export "seven") (result i32) (i32.const 7)))
    (core instance $m (instantiate $m (with "" (instance (export "new" (func $new)) (export "host" (func $host))))))
    (export $r "r" (type $r'))
    (func (export "make") (result (own $r)) (canon lift (core func $m "make")))
    (func (export "call") (canon lift (core func $m "call")))
    (func (export "seven") (result u32) (canon lift (core func $m "seven"))))`

  interface Held {
    dispose(): void
  }

  async function opened(body: string, host: () => void): Promise<{ component: OpenComponent; held: Held }> {
    const component = await open(withDestructor(body), {
      interfaces: { $root: { host } },
      limits: { wallMs: 300 },
    })
    const made = await component.call('make')
    if (made.status !== 'completed') throw new Error(made.status)
    return { component, held: made.value as Held }
  }

  it.each([
    ['trap', '(unreachable)'],
    ['never end', '(loop $l (br $l))'],
  ])('that %s end the instance, also where an import keeps that to itself', async (_what, body) => {
    const calls = new Map<string, Held>()
    const { component, held } = await opened(body, () => {
      try {
        calls.get('held')?.dispose()
      } catch {
        // Kept to itself.
      }
    })
    calls.set('held', held)
    expect(await component.call('call')).toMatchObject({
      status: expect.stringMatching(/^(failed|exhausted)$/),
    })
    await expect(component.call('seven')).rejects.toMatchObject({ code: 'isolate_destroyed' })
  })

  it.each([
    ['trap', '(unreachable)'],
    ['never end', '(loop $l (br $l))'],
  ])(
    'that %s between a call and its begin end it under the limits, and throw nothing',
    async (_what, body) => {
      const { component, held } = await opened(body, () => {})
      const calling = component.call('seven').catch((error: unknown) => error)
      held.dispose()
      expect(await calling).toMatchObject({ code: 'isolate_destroyed' })
      expect(component.state).toBe('over')
    },
  )

  it('that return leave the call that is about to begin as it was', async () => {
    const { component, held } = await opened('', () => {})
    const calling = component.call('seven')
    held.dispose()
    expect(await calling).toMatchObject({ status: 'completed', value: 7 })
    expect(await component.call('seven')).toMatchObject({ value: 7 })
  })

  it('are of no instance that was disposed before its call began', async () => {
    const { component } = await opened('', () => {})
    const calling = component.call('seven').catch((error: unknown) => error)
    component[Symbol.dispose]()
    expect(await calling).toMatchObject({ code: 'isolate_destroyed' })
    expect(component.state).toBe('over')
  })
})

describe('resources of the host', () => {
  const owning = `(component
    (import "host" (instance $h (export "thing" (type $t (sub resource)))
      (export "make" (func (result (own $t)))) (export "away" (func))))
    (core func $make (canon lower (func $h "make"))) (core func $away (canon lower (func $h "away")))
    (core module $m (import "" "make" (func $make (result i32))) (import "" "away" (func $away))
      (func (export "keep") (param i32)
        (loop $l (drop (call $make)) (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
      (func (export "trap") (drop (call $make)) (unreachable))
      (func (export "away") (drop (call $make)) (call $away) (loop $l (br $l))))
    (core instance $m (instantiate $m (with "" (instance (export "make" (func $make)) (export "away" (func $away))))))
    (func (export "keep") (param "n" u32) (canon lift (core func $m "keep")))
    (func (export "trap") (canon lift (core func $m "trap")))
    (func (export "away") (canon lift (core func $m "away"))))`

  interface Counted {
    readonly component: OpenComponent
    readonly ended: number[]
  }

  async function counted(away: () => void = () => {}): Promise<Counted> {
    const ended: number[] = []
    let made = 0
    class Thing {
      readonly number: number

      constructor() {
        made += 1
        this.number = made
      }

      [Symbol.dispose](): void {
        ended.push(this.number)
        if (this.number === 2) throw new Error('mine')
      }
    }
    const interfaces = { host: { Thing, make: () => new Thing(), away } }
    return { component: await open(owning, { interfaces }), ended }
  }

  it('that a guest owns end with it, each of them, also where one of them cannot', async () => {
    const { component, ended } = await counted()
    expect(await component.call('keep', [3])).toMatchObject({ status: 'completed' })
    expect(ended).toEqual([])
    component[Symbol.dispose]()
    component[Symbol.dispose]()
    expect(ended).toEqual([1, 2, 3])
  })

  it('end with a guest that trapped, when it is let go of', async () => {
    const { component, ended } = await counted()
    expect(await component.call('trap')).toMatchObject({ status: 'failed' })
    component[Symbol.dispose]()
    expect(ended).toEqual([1])
  })

  it('end with one that is let go of by its own import, which ends at its next check', async () => {
    const held = new Map<string, OpenComponent>()
    const { component, ended } = await counted(() => held.get('it')?.[Symbol.dispose]())
    held.set('it', component)
    expect(await component.call('away')).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
    expect([component.state, ended]).toEqual(['over', [1]])
  })
})

describe('interfaces that are objects of a class', () => {
  it('give their methods, and neither what made them nor what every object has', async () => {
    const made: unknown[] = []
    function Old(this: object): void {
      made.push(this)
    }
    Old.prototype.seven = (): number => 7
    const host = Object.create(Old.prototype) as Readonly<Record<string, unknown>>
    const importing = (name: string): string => `(component
      (import "host" (instance $h (export "${name}" (func (result u32)))))
      (core func $f (canon lower (func $h "${name}")))
      (core module $m (import "" "f" (func $f (result i32))) (func (export "run") (result i32) (call $f)))
      (core instance $m (instantiate $m (with "" (instance (export "f" (func $f))))))
      (func (export "run") (result u32) (canon lift (core func $m "run"))))`
    const component = await open(importing('seven'), { interfaces: { host } })
    expect(await component.call('run')).toMatchObject({ value: 7 })
    for (const name of ['constructor', 'to-string', 'value-of', 'has-own-property'])
      await expect(open(importing(name), { interfaces: { host } })).rejects.toMatchObject({
        code: 'missing_imports',
      })
    expect(made).toEqual([])
  })
})
