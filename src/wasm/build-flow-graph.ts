/**
 * Builds the flow graph of a function in one pass over its instructions.
 *
 * 1. Calls and bulk instructions end blocks, and blocks that spend too much are divided (`maxBlock`).
 * 2. Several equal targets of one `br_table` make one edge. Those that lead to the head of one loop can hold code;
 *    an interpreter's loop would otherwise be charged at its head, besides on every other way back to it.
 */
import { BULK_BY_OPCODE } from './cost.ts'
import { BLOCK_EMPTY, type DecodedBody } from './decoded-body.ts'
import type { FlowContext } from './flow-context.ts'
import { createFrame, type Frame } from './flow-frame.ts'
import { EDGE, EXIT, FlowGraph, ROLE } from './flow-graph.ts'
import { IntList } from './int-list.ts'
import type { FunctionType } from './module.ts'
import { OP } from './opcode-table.ts'

/** Builds the flow graph of a decoded body. */
export function buildFlowGraph(body: DecodedBody, context: FlowContext): FlowGraph {
  return new FlowGraphBuilder(body, context).build()
}

const NONE = -1
/** Target of an edge to the end of a construct that is still open. */
const PENDING = -2

class FlowGraphBuilder {
  readonly #body: DecodedBody
  readonly #context: FlowContext
  readonly #graph: FlowGraph = new FlowGraph()
  readonly #frames: Frame[] = []
  readonly #nextPending: IntList = new IntList()
  #current = NONE
  /** Fuel of the current block, with what it calls. */
  #weight = 0
  #loops = 0
  #pad = EXIT

  constructor(body: DecodedBody, context: FlowContext) {
    this.#body = body
    this.#context = context
  }

  build(): FlowGraph {
    const { opcodes } = this.#body
    const type = this.#context.types[this.#body.typeIndex] as FunctionType
    this.#current = this.#block(-1)
    this.#push(OP.nop, type.results.length, NONE)
    for (let index = 0; index < opcodes.length; index++) {
      const opcode = opcodes.at(index)
      this.#graph.blockOf.push(this.#current)
      if (this.#current !== NONE) this.#spend(index)
      if (opcode < 0x20 || opcode === OP.brOnNull || opcode === OP.brOnNonNull) this.#control(opcode, index)
      else if (BULK_BY_OPCODE.has(opcode) && this.#current !== NONE) this.#step(index)
      if (this.#weight > this.#context.maxBlock && this.#current !== NONE) this.#continue(index)
    }
    return this.#graph
  }

  #spend(index: number): void {
    const { costs, advances } = this.#graph
    const cost = this.#context.cost(this.#body, index)
    costs[this.#current] = (costs[this.#current] as number) + cost
    const advance = this.#context.advance(this.#body, index)
    advances[this.#current] = (advances[this.#current] as number) + advance
    this.#weight += cost + this.#context.unchecked(this.#body, index)
  }

  #block(start: number, role: number = ROLE.plain): number {
    const graph = this.#graph
    graph.starts.push(start)
    graph.costs.push(0)
    graph.advances.push(0)
    graph.loopEnds.push(0)
    graph.loopArities.push(0)
    graph.loopDepths.push(this.#loops)
    graph.roles.push(role)
    this.#weight = 0
    return graph.blocks - 1
  }

  #edge(from: number, to: number, kind: number, instruction: number): number {
    const graph = this.#graph
    graph.from.push(from)
    graph.to.push(to)
    graph.kinds.push(kind)
    graph.instructions.push(instruction)
    this.#nextPending.push(NONE)
    return graph.edges - 1
  }

  #push(opcode: number, arity: number, block: number): void {
    this.#frames.push(createFrame(opcode, arity, block, this.#pad))
  }

  #top(): Frame {
    return this.#frames[this.#frames.length - 1] as Frame
  }

  #frameAt(label: number): Frame {
    return this.#frames[this.#frames.length - 1 - label] as Frame
  }

  /** An edge to the end of `frame`, whose block is not known yet. */
  #toEnd(frame: Frame, from: number, kind: number, instruction: number): void {
    const edge = this.#edge(from, PENDING, kind, instruction)
    this.#nextPending.items[edge] = frame.pending
    frame.pending = edge
  }

  /** An edge from `from` to the label of `frame`. */
  #toLabel(frame: Frame, from: number, kind: number, instruction: number): void {
    if (frame.stamp === instruction && (kind === EDGE.fixed || kind === EDGE.entry)) return
    frame.stamp = instruction
    if (frame.opcode === OP.loop) {
      this.#edge(from, frame.block, kind, instruction)
      return
    }
    if (frame.opcode === OP.nop && kind !== EDGE.before) this.#graph.wrapped = true
    this.#toEnd(frame, from, kind, instruction)
  }

  #blockArity(blockType: number, which: 'params' | 'results'): number {
    if (blockType >= 0) return this.#context.types[blockType]?.[which].length ?? 0
    return blockType === BLOCK_EMPTY || which === 'params' ? 0 : 1
  }

  /** Goes on in a new block behind `instruction`, reached from the current one. */
  #continue(instruction: number): void {
    const next = this.#block(instruction)
    this.#edge(this.#current, next, EDGE.after, instruction)
    this.#current = next
  }

  #unwind(instruction: number): void {
    this.#edge(this.#current, this.#pad, EDGE.fixed, instruction)
  }

  #control(opcode: number, index: number): void {
    const reachable = this.#current !== NONE
    switch (opcode) {
      case OP.block:
      case OP.loop:
      case OP.if:
      case OP.try:
      case OP.tryTable:
        this.#open(opcode, index, reachable)
        break
      case OP.else:
        this.#else(index)
        break
      case OP.catch:
      case OP.catchAll:
        this.#catch(opcode, index)
        break
      case OP.delegate:
      case OP.end:
        this.#close(opcode, index)
        break
      default:
        if (reachable) this.#transfer(opcode, index)
    }
  }

  #open(opcode: number, index: number, reachable: boolean): void {
    const blockType = this.#body.first.at(index)
    const arity = this.#blockArity(blockType, opcode === OP.loop ? 'params' : 'results')
    if (!reachable) {
      this.#push(OP.unreachable, arity, NONE)
    } else if (opcode === OP.loop) {
      this.#loops++
      const head = this.#block(index)
      this.#graph.loopArities.items[head] = arity
      this.#edge(this.#current, head, EDGE.before, index)
      this.#current = head
      this.#push(opcode, arity, head)
    } else if (opcode === OP.if) {
      this.#push(opcode, arity, this.#current)
      this.#continue(index)
    } else if (opcode === OP.block) {
      this.#push(opcode, arity, NONE)
    } else {
      this.#openTry(opcode, index, arity)
    }
  }

  #openTry(opcode: number, index: number, arity: number): void {
    const pad = this.#block(index, ROLE.pad)
    this.#push(opcode, arity, pad)
    const frame = this.#top()
    if (opcode === OP.tryTable) this.#catchClauses(frame, pad, index)
    frame.pad = pad
    this.#pad = pad
  }

  /** The clauses of a `try_table` are branches of its pad to labels outside of it. */
  #catchClauses(frame: Frame, pad: number, index: number): void {
    const { pool, second } = this.#body
    const at = second.at(index)
    for (let clause = 0; clause < pool.at(at); clause++) {
      const kind = pool.at(at + 1 + clause * 3)
      const label = pool.at(at + 3 + clause * 3)
      const target = this.#frameAt(label + 1)
      target.handles = true
      if (target.opcode === OP.loop) this.#graph.roles.items[target.block] = ROLE.handler
      this.#toLabel(target, pad, EDGE.fixed, index)
      if (kind >= 2) frame.catchesAll = true
    }
  }

  #else(index: number): void {
    const frame = this.#top()
    if (frame.opcode === OP.unreachable) return
    if (this.#current !== NONE) this.#toEnd(frame, this.#current, EDGE.before, index)
    frame.hasElse = true
    this.#current = frame.block
    this.#continue(index)
  }

  #catch(opcode: number, index: number): void {
    const frame = this.#top()
    if (frame.opcode === OP.unreachable) return
    if (this.#current !== NONE) this.#toEnd(frame, this.#current, EDGE.before, index)
    const handler = this.#block(index, ROLE.handler)
    this.#edge(frame.block, handler, EDGE.fixed, index)
    this.#current = handler
    frame.pad = frame.outerPad
    this.#pad = frame.outerPad
    if (opcode === OP.catchAll) frame.catchesAll = true
  }

  #close(opcode: number, index: number): void {
    const frame = this.#frames.pop() as Frame
    this.#pad = frame.outerPad
    if (frame.opcode === OP.nop) {
      this.#finish(frame, index)
      return
    }
    if (frame.opcode === OP.loop) {
      this.#loops--
      this.#graph.loopEnds.items[frame.block] = this.#graph.blocks
      return
    }
    if (frame.opcode === OP.unreachable) return
    if (frame.opcode === OP.if && !frame.hasElse) this.#toEnd(frame, frame.block, EDGE.otherwise, index)
    if (frame.opcode === OP.try || frame.opcode === OP.tryTable) this.#closePad(frame, opcode, index)
    if (frame.pending !== NONE) this.#merge(frame, index)
  }

  #closePad(frame: Frame, opcode: number, index: number): void {
    if (frame.catchesAll) return
    const outside = opcode === OP.delegate ? this.#frameAt(this.#body.first.at(index)).pad : frame.outerPad
    this.#edge(frame.block, outside, EDGE.fixed, index)
  }

  /** The block behind the end of `frame`, where the edges that wait for it and the current block meet. */
  #merge(frame: Frame, index: number): void {
    const joint = this.#block(index, frame.handles ? ROLE.handler : ROLE.plain)
    if (this.#current !== NONE) this.#edge(this.#current, joint, EDGE.before, index)
    this.#resolve(frame, joint)
    this.#current = joint
  }

  #resolve(frame: Frame, target: number): void {
    for (let edge = frame.pending; edge !== NONE; edge = this.#nextPending.at(edge)) {
      this.#graph.to.items[edge] = target
    }
  }

  #finish(frame: Frame, index: number): void {
    if (this.#graph.wrapped) {
      this.#merge(frame, index)
      this.#edge(this.#current, EXIT, EDGE.before, index + 1)
    } else {
      if (this.#current !== NONE) this.#edge(this.#current, EXIT, EDGE.before, index)
      this.#resolve(frame, EXIT)
    }
    this.#current = NONE
  }

  #transfer(opcode: number, index: number): void {
    const label = this.#body.first.at(index)
    switch (opcode) {
      case OP.br:
        this.#toLabel(this.#frameAt(label), this.#current, EDGE.before, index)
        this.#current = NONE
        break
      case OP.brIf: {
        const target = this.#frameAt(label)
        this.#toLabel(target, this.#current, target.arity === 0 ? EDGE.taken : EDGE.fixed, index)
        this.#continue(index)
        break
      }
      case OP.brOnNull:
      case OP.brOnNonNull:
        this.#toLabel(this.#frameAt(label), this.#current, EDGE.fixed, index)
        this.#continue(index)
        break
      case OP.brTable: {
        const count = this.#body.second.at(index)
        let head: Frame | undefined
        for (let entry = 0; entry < count; entry++) {
          const entryLabel = this.#body.pool.at(label + entry)
          const target = this.#frameAt(entryLabel)
          if (target.opcode === OP.loop && target.arity === 0) head ??= target
          if (target === head && target.stamp !== index)
            this.#graph.entryLabels.set(this.#graph.edges, entryLabel)
          this.#toLabel(target, this.#current, target === head ? EDGE.entry : EDGE.fixed, index)
        }
        this.#current = NONE
        break
      }
      case OP.return:
      case OP.returnCall:
      case OP.returnCallIndirect:
      case OP.returnCallRef:
        this.#edge(this.#current, EXIT, EDGE.before, index)
        this.#current = NONE
        break
      case OP.throw:
      case OP.rethrow:
      case OP.throwRef:
        this.#unwind(index)
        this.#current = NONE
        break
      case OP.unreachable:
        this.#current = NONE
        break
      case OP.call:
      case OP.callIndirect:
      case OP.callRef:
        this.#step(index)
        break
    }
  }

  #step(index: number): void {
    if (this.#context.unwinds) this.#unwind(index)
    this.#continue(index)
  }
}
