/**
 * What the parts of the interpreter share: the index spaces of one instance, and who is told what it does.
 */
import type {
  FunctionInstance,
  GlobalInstance,
  MemoryInstance,
  TableInstance,
  TagInstance,
  Value,
} from './entities.ts'
import type { Instruction } from './instruction.ts'
import type { WasmModule } from './module-reader.ts'

/** What is told about the execution. */
export interface ExecutionObserver {
  /** Called before every instruction. */
  readonly executed: (instruction: Instruction) => void
  /** Called after a bulk instruction succeeded on `units` bytes, pages or entries. */
  readonly worked: (opcode: number, units: number) => void
}

/** What frames share: the index spaces of one instance. */
export interface InstanceState {
  readonly module: WasmModule
  readonly observer: ExecutionObserver
  readonly functions: FunctionInstance[]
  readonly tables: TableInstance[]
  readonly memory: MemoryInstance
  readonly globals: GlobalInstance[]
  readonly tags: TagInstance[]
  /** Element segments; emptied when dropped. */
  readonly elements: Value[][]
  /** Data segments; emptied when dropped. */
  readonly data: Uint8Array[]
  readonly call: (callee: FunctionInstance, args: readonly Value[]) => readonly Value[]
}
