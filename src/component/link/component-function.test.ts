/** Functions between a component and its host, on modules that do what no compiler makes. */
import { describe, expect, it } from 'vitest'
import { assemble } from '../../wasm/assemble.testkit.ts'
import { HandleTable } from '../abi/resources.ts'
import { functionType, primitiveType } from '../abi/wit-type.ts'
import { type CoreFunction, guestMemory, type InstanceState, lowerFunction } from './component-function.ts'
import { FaultDomain } from './fault-domain.ts'

/** Asks twice in a row, and has an allocator that asks as well. */
const ASKS_TWICE = `(module
  (import "host" "ask" (func $ask (param i32)))
  (memory (export "memory") 1)
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (call $ask (i32.const 8)) (i32.const 64))
  (func (export "run") (call $ask (i32.const 8)) (call $ask (i32.const 8))))`

interface Asking {
  readonly domain: FaultDomain
  readonly exports: WebAssembly.Exports
  readonly state: InstanceState
}

function open(ask: () => string): Asking {
  const domain = new FaultDomain({ bytes: 1_000, nodes: 100 }, () => {})
  const state: InstanceState = { handles: new HandleTable(), domain, mayLeave: true }
  const type = functionType([], primitiveType('string'))
  let lowered: CoreFunction = () => undefined
  const module = new WebAssembly.Module(assemble(ASKS_TWICE) as Uint8Array<ArrayBuffer>)
  const { exports } = new WebAssembly.Instance(module, {
    host: { ask: (pointer: number) => lowered(pointer) },
  })
  const memory = guestMemory(state, exports.memory as WebAssembly.Memory, exports.realloc as CoreFunction)
  const options = { encoding: 'utf8', memory, postReturn: undefined } as const
  lowered = lowerFunction({ type, call: ask }, state, options, true)
  return { domain, exports, state }
}

describe('a function of the host', () => {
  it('is called no more once the guest has failed, though its code runs on to the next check (invariant 1)', () => {
    let asked = 0
    const { domain, exports } = open(() => {
      asked += 1
      throw new Error('broken')
    })
    ;(exports.run as CoreFunction)()
    expect(asked).toBe(1)
    expect(domain.fault).toMatchObject({ message: 'broken' })
  })

  it('is not called by the allocator that the host calls for it (invariant 2)', () => {
    let asked = 0
    const { domain, exports, state } = open(() => {
      asked += 1
      return 'text'
    })
    ;(exports.run as CoreFunction)()
    expect(asked).toBe(1)
    expect(domain.fault).toMatchObject({ message: 'The guest called out where it may not.' })
    expect(state.mayLeave).toBe(true)
  })
})
