/** SIMD instructions of the interpreter: operands from the stack, memory from the instance, the work in stubs. */

import type { InstanceState } from './instance-state.ts'
import { type Instruction, isVectorLaneAccess, isVectorMemoryAccess, OP } from './instruction.ts'
import { accessedBytes } from './memory-instructions.ts'
import type { OperandStack } from './operand-stack.ts'
import {
  evaluateVector,
  evaluateVectorLoad,
  evaluateVectorStore,
  isVectorStore,
  vectorAccessWidth,
  vectorOperands,
} from './vector-stubs.ts'

/** Runs one instruction behind the prefix 0xfd. */
export function executeVector(state: InstanceState, stack: OperandStack, instruction: Instruction): void {
  const sub = instruction.opcode & 0xfff
  if (instruction.opcode === OP.v128_const) {
    stack.push(instruction.constant)
    return
  }
  const shuffles = instruction.opcode === OP.i8x16_shuffle
  const operands = stack.popMany(shuffles ? 2 : vectorOperands(sub).length) as Uint8Array[]
  if (!isVectorMemoryAccess(sub) && !isVectorLaneAccess(sub)) {
    stack.push(evaluateVector(instruction, operands))
    return
  }
  const address = stack.popIndex() + instruction.offset
  const accessed = accessedBytes(state.memory, address, vectorAccessWidth(sub))
  if (isVectorStore(sub)) accessed.set(evaluateVectorStore(instruction, operands))
  else stack.push(evaluateVectorLoad(instruction, accessed, operands))
}
