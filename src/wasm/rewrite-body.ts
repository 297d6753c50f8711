/**
 * Copies a body while code is put between its instructions, and some instructions are replaced.
 *
 * Function indices move up by one behind the imports, for the import that metering adds. If the flow graph wants
 * it, the body is wrapped in a block: labels keep their numbers, and what left the function by a conditional
 * branch arrives behind that block.
 */
import { ByteReader } from './byte-reader.ts'
import type { CodeWriter } from './code-writer.ts'
import type { DecodedBody } from './decoded-body.ts'
import { OP } from './opcode-table.ts'
import type { ValueType } from './value-type.ts'
import { writeValueType } from './value-type.ts'

/** What happens at the seams. Instruction -1 is the entry, instruction `body.length` the very end. */
export interface BodyHooks {
  /** Whether anything is put right before the instruction. */
  hasBefore(instruction: number): boolean
  before(instruction: number): void
  /** Whether anything is put right behind the instruction. */
  hasAfter(instruction: number): boolean
  after(instruction: number): void
  /** Writes another instruction instead, and says whether it did. */
  replace(instruction: number): boolean
}

/** What a rewritten body needs from outside. */
export interface RewriteOptions {
  /** The function's locals to add, behind those it has. */
  readonly locals: readonly ValueType[]
  /** Writes the block type of a wrapper around the body; none if it is not wrapped. */
  readonly wrapper: ((code: CodeWriter) => void) | undefined
}

/** Writes locals and code of `body` with everything that the hooks add. */
export function rewriteBody(
  body: DecodedBody,
  code: CodeWriter,
  options: RewriteOptions,
  hooks: BodyHooks,
): void {
  const { out } = code
  const { bytes, starts } = body
  writeLocals(body, code, options.locals)
  if (options.wrapper !== undefined) {
    out.byte(OP.block)
    options.wrapper(code)
  }
  if (hooks.hasAfter(-1)) hooks.after(-1)
  const last = body.length - 1
  let copied = starts.at(0)
  const copyTo = (position: number): void => {
    if (position > copied) out.raw(bytes.subarray(copied, position))
    copied = position
  }
  for (let at = 0; at <= last; at++) {
    if (hooks.hasBefore(at)) {
      copyTo(starts.at(at))
      hooks.before(at)
    }
    if (isReplaced(body, at)) {
      copyTo(starts.at(at))
      if (hooks.replace(at)) copied = starts.at(at + 1)
    }
    if (at < last && hooks.hasAfter(at)) {
      copyTo(starts.at(at + 1))
      hooks.after(at)
    }
  }
  if (options.wrapper !== undefined) {
    copyTo(starts.at(last))
    out.byte(OP.end)
    if (hooks.hasAfter(last)) hooks.after(last)
    if (hooks.hasBefore(body.length)) hooks.before(body.length)
  }
  copyTo(starts.at(body.length))
}

/** Whether hooks may want to replace this instruction: asking for all of them would cost most of the time. */
function isReplaced(body: DecodedBody, at: number): boolean {
  switch (body.opcodes.at(at)) {
    case OP.call:
    case OP.returnCall:
    case OP.refFunc:
    case OP.br:
    case OP.brIf:
    case OP.brOnNull:
    case OP.brOnNonNull:
    case OP.brTable:
    case OP.memoryGrow:
    case OP.memoryInit:
    case OP.memoryCopy:
    case OP.memoryFill:
    case OP.tableInit:
    case OP.tableCopy:
    case OP.tableGrow:
    case OP.tableFill:
      return true
    default:
      return false
  }
}

function writeLocals(body: DecodedBody, code: CodeWriter, added: readonly ValueType[]): void {
  const reader = new ByteReader(body.bytes)
  const groups = reader.u32()
  code.out.u32(groups + added.length)
  code.out.raw(body.bytes.subarray(reader.position, body.starts.at(0)))
  for (const type of added) {
    code.out.u32(1)
    writeValueType(code.out, type)
  }
}
