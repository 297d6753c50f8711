/** Loads, stores and bulk memory instructions of the interpreter, over a plain byte array. */
import { type MemoryInstance, PAGE_BYTES, TRAP, Trap } from './entities.ts'

/** How a scalar load or store reaches memory. */
interface Access {
  readonly width: number
  readonly read: (view: DataView, at: number) => number | bigint
  readonly write: (view: DataView, at: number, value: number | bigint) => void
}

function access(
  width: number,
  read: (view: DataView, at: number) => number | bigint,
  write: (view: DataView, at: number, value: number | bigint) => void = () => undefined,
): Access {
  return { width, read, write }
}

const number = (value: number | bigint): number => Number(BigInt.asIntN(64, BigInt(value)) & 0xffffffffn)

/** Every scalar access instruction, 0x28 to 0x3e, in opcode order. */
const ACCESSES: readonly Access[] = [
  access(4, (v, at) => v.getInt32(at, true)),
  access(8, (v, at) => v.getBigInt64(at, true)),
  access(4, (v, at) => v.getFloat32(at, true)),
  access(8, (v, at) => v.getFloat64(at, true)),
  access(1, (v, at) => v.getInt8(at)),
  access(1, (v, at) => v.getUint8(at)),
  access(2, (v, at) => v.getInt16(at, true)),
  access(2, (v, at) => v.getUint16(at, true)),
  access(1, (v, at) => BigInt(v.getInt8(at))),
  access(1, (v, at) => BigInt(v.getUint8(at))),
  access(2, (v, at) => BigInt(v.getInt16(at, true))),
  access(2, (v, at) => BigInt(v.getUint16(at, true))),
  access(4, (v, at) => BigInt(v.getInt32(at, true))),
  access(4, (v, at) => BigInt(v.getUint32(at, true))),
  store(4, (v, at, x) => v.setInt32(at, Number(x), true)),
  store(8, (v, at, x) => v.setBigInt64(at, BigInt(x), true)),
  store(4, (v, at, x) => v.setFloat32(at, Number(x), true)),
  store(8, (v, at, x) => v.setFloat64(at, Number(x), true)),
  store(1, (v, at, x) => v.setUint8(at, Number(x))),
  store(2, (v, at, x) => v.setUint16(at, Number(x), true)),
  store(1, (v, at, x) => v.setUint8(at, number(x))),
  store(2, (v, at, x) => v.setUint16(at, number(x), true)),
  store(4, (v, at, x) => v.setUint32(at, number(x), true)),
]

function store(width: number, write: (view: DataView, at: number, value: number | bigint) => void): Access {
  return access(width, () => 0, write)
}

/** Whether the opcode is a scalar store. */
export function isScalarStore(opcode: number): boolean {
  return opcode >= 0x36
}

/** The bytes of an access at an unsigned address, or a trap. */
export function accessedBytes(memory: MemoryInstance, address: number, width: number): Uint8Array {
  if (address + width > memory.bytes.length) throw new Trap(TRAP.memory)
  return memory.bytes.subarray(address, address + width)
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function accessOf(opcode: number): Access {
  const found = ACCESSES[opcode - 0x28]
  if (found === undefined) throw new Error(`not a memory access: ${opcode}`)
  return found
}

/** A scalar load. */
export function loadScalar(memory: MemoryInstance, opcode: number, address: number): number | bigint {
  const { width, read } = accessOf(opcode)
  return read(viewOf(accessedBytes(memory, address, width)), 0)
}

/** A scalar store. */
export function storeScalar(
  memory: MemoryInstance,
  opcode: number,
  address: number,
  value: number | bigint,
): void {
  const { width, write } = accessOf(opcode)
  write(viewOf(accessedBytes(memory, address, width)), 0, value)
}

/** memory.grow: the old size in pages, or -1. */
export function growMemory(memory: MemoryInstance, pages: number): number {
  const before = memory.bytes.length / PAGE_BYTES
  if (before + pages > memory.maximumPages) return -1
  if (pages > 0) {
    const grown = new Uint8Array((before + pages) * PAGE_BYTES)
    grown.set(memory.bytes)
    memory.bytes = grown
  }
  return before
}

/** memory.fill. */
export function fillMemory(memory: MemoryInstance, to: number, value: number, length: number): void {
  accessedBytes(memory, to, length).fill(value & 0xff)
}

/** memory.copy. */
export function copyMemory(memory: MemoryInstance, to: number, from: number, length: number): void {
  const source = accessedBytes(memory, from, length)
  accessedBytes(memory, to, length).set(source)
}

/** memory.init from a data segment (empty once dropped). */
export function initMemory(
  memory: MemoryInstance,
  segment: Uint8Array,
  to: number,
  from: number,
  length: number,
): void {
  if (from + length > segment.length) throw new Trap(TRAP.memory)
  accessedBytes(memory, to, length).set(segment.subarray(from, from + length))
}
