/**
 * Shells around loops that check: they take the refill out of the loop.
 *
 * ```
 * block $done (result t)
 *   loop $again (result t)
 *     block $empty
 *       loop $head (result t)       ;; the loop that was there
 *         ...                       ;; a check branches to $empty
 *       end
 *       br $done
 *     end
 *     refill                        ;; and what the head charged before its check is given back
 *     br $again                     ;; enters the loop at its head, where the check passes
 *   end
 * end
 * ```
 *
 * 1. A loop that has a shell holds no call for the sake of its checks: compilers keep its variables in registers
 *    and may unroll it. On numbers of a few limbs that takes a third of the cost of metering (bench suite
 *    `fuel-overhead`, pidigits).
 * 2. The shell changes no order of charges and checks, and nothing that the plain loop did.
 * 3. Only innermost loops without calls get one, and only those that go round often: entering costs more, and
 *    where there are calls anyway nothing is gained.
 */
import type { CheckSites } from './check-sites.ts'
import type { CodeWriter } from './code-writer.ts'
import { usesGlobalCounter } from './counter-cache.ts'
import type { DecodedBody } from './decoded-body.ts'
import { EXIT, type FlowGraph } from './flow-graph.ts'
import type { Frequencies } from './frequency.ts'
import { IntList } from './int-list.ts'
import { OP } from './opcode-table.ts'

/** Labels that a shell adds around its loop. */
const LEVELS = 3

/** Rounds per entry from which on a loop gets a shell. */
const MANY_ROUNDS = 3

/**
 * Chooses the loops of a function that get shells: 1 for their `loop` instructions. Undefined if there are none.
 * The function must not catch: labels of handlers are not written anew.
 */
export function chooseShells(
  body: DecodedBody,
  graph: FlowGraph,
  frequencies: Frequencies,
  checks: CheckSites,
): Uint8Array | undefined {
  const checked = new Set<number>()
  for (let block = 0; block < graph.blocks; block++) {
    if (checks.blocks[block] === 1 && graph.isPlainHead(block)) checked.add(block)
  }
  const twice = new Set<number>()
  const entries = new Map<number, number>()
  for (let edge = 0; edge < graph.edges; edge++) {
    const to = graph.to.at(edge)
    if (to === EXIT || !graph.isPlainHead(to)) continue
    if (checks.edges[edge] === 1) {
      // What is given back in the shell would depend on where the check failed.
      if (checks.blocks[to] === 1) twice.add(to)
      checked.add(to)
    }
    const entered = graph.isBack(edge) ? 0 : (frequencies.edges[edge] as number)
    entries.set(to, (entries.get(to) ?? 0) + entered)
  }
  if (checked.size === 0) return undefined
  const disturbed = disturbedBlocks(body, graph)
  const shells = new Uint8Array(body.length)
  for (const head of checked) {
    const rounds = frequencies.blocks[head] as number
    if (twice.has(head) || rounds < MANY_ROUNDS * (entries.get(head) ?? 0)) continue
    if (isDisturbed(graph, head, disturbed)) continue
    shells[graph.starts.at(head)] = 1
  }
  return shells.includes(1) ? shells : undefined
}

/** 2 for blocks that call, 1 for others that begin a loop. */
function disturbedBlocks(body: DecodedBody, graph: FlowGraph): Uint8Array {
  const disturbed = new Uint8Array(graph.blocks)
  for (let at = 0; at < body.length; at++) {
    const block = graph.blockOf.at(at)
    if (block >= 0 && usesGlobalCounter(body.opcodes.at(at))) disturbed[block] = 2
  }
  for (let block = 0; block < graph.blocks; block++) {
    if (graph.loopEnds.at(block) > 0) disturbed[block] = Math.max(disturbed[block] as number, 1)
  }
  return disturbed
}

/** Whether a loop holds a call, or another loop. */
function isDisturbed(graph: FlowGraph, head: number, disturbed: Uint8Array): boolean {
  if (disturbed[head] === 2) return true
  const end = graph.loopEnds.at(head)
  for (let block = head + 1; block < end; block++) if (disturbed[block] !== 0) return true
  return false
}

/** The shells of one function. Asked in the order of instructions. */
export class LoopShells {
  readonly #body: DecodedBody
  /** 1 for `loop` instructions that get a shell. */
  readonly #shelled: Uint8Array
  /** For the `end` of a loop with a shell, one more than its `loop` instruction; 0 for all others. */
  readonly #closes: Int32Array
  /** How many labels shells have added up to each construct that is open at the cursor. */
  readonly #levels: IntList = new IntList()
  #cursor = 0

  /** @param shelled 1 for `loop` instructions that get a shell. The function must not catch. */
  constructor(body: DecodedBody, shelled: Uint8Array) {
    this.#body = body
    this.#shelled = shelled
    this.#closes = new Int32Array(body.length + 1)
    this.#findEnds()
    this.#levels.push(0)
  }

  #findEnds(): void {
    const open: number[] = []
    for (let at = 0; at < this.#body.length; at++) {
      const opcode = this.#body.opcodes.at(at)
      if (opens(opcode)) open.push(at)
      if (opcode !== OP.end) continue
      const opener = open.pop()
      if (opener !== undefined && this.#shelled[opener] === 1) this.#closes[at] = opener + 1
    }
  }

  /** Whether the instruction is a loop with a shell. */
  opensAt(at: number): boolean {
    return this.#shelled[at] === 1
  }

  /** Whether the instruction is the end of a loop with a shell. */
  closesAt(at: number): boolean {
    return (this.#closes[at] as number) > 0
  }

  /** The `loop` instruction that ends at `at`. */
  loopOf(at: number): number {
    return (this.#closes[at] as number) - 1
  }

  /** Writes what stands before the loop. */
  open(at: number, code: CodeWriter): void {
    this.#writeOpening(OP.block, at, code)
    this.#writeOpening(OP.loop, at, code)
    code.open(OP.block)
  }

  #writeOpening(opcode: number, at: number, code: CodeWriter): void {
    const { bytes, starts } = this.#body
    code.out.byte(opcode)
    code.out.raw(bytes.subarray(starts.at(at) + 1, starts.at(at + 1)))
  }

  /** Writes what stands behind the loop's end. */
  close(code: CodeWriter, refill: () => void): void {
    code.op(OP.br, 2).op(OP.end)
    refill()
    code.op(OP.br, 0).op(OP.end).op(OP.end)
  }

  /** The number of a label in the code as it is written, seen from the instruction. */
  label(at: number, label: number): number {
    this.#advance(at)
    const levels = this.#levels
    const top = levels.length - 1
    return label + levels.at(top) - levels.at(top - label)
  }

  /** Moves the cursor up to the instruction, which is not entered. */
  #advance(at: number): void {
    const levels = this.#levels
    for (; this.#cursor < at; this.#cursor++) {
      const opcode = this.#body.opcodes.at(this.#cursor)
      if (opens(opcode)) levels.push(levels.top() + (this.opensAt(this.#cursor) ? LEVELS : 0))
      else if (opcode === OP.end) levels.length--
    }
  }
}

function opens(opcode: number): boolean {
  return opcode === OP.block || opcode === OP.loop || opcode === OP.if
}
