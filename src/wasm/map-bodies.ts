/** Renumbers one kind of index in all function bodies of a module. */
import { ByteWriter } from './byte-writer.ts'
import { codeContext } from './code-context.ts'
import { decodeBody } from './decode-body.ts'
import { DecodedBody } from './decoded-body.ts'
import type { FunctionBody, Module } from './module.ts'

/**
 * The bodies with the first immediate of every instruction that `names` accepts replaced by what `map` makes of it.
 * Such an instruction must be a byte with this one immediate.
 */
export function mapBodies(
  module: Module,
  names: (opcode: number) => boolean,
  map: (index: number) => number,
): FunctionBody[] {
  const context = codeContext(module)
  const decoded = new DecodedBody()
  return module.bodies.map((body, index) => {
    decodeBody(context, body, context.importedFunctions + index, decoded)
    return mapBody(body, decoded, names, map)
  })
}

function mapBody(
  body: FunctionBody,
  decoded: DecodedBody,
  names: (opcode: number) => boolean,
  map: (index: number) => number,
): FunctionBody {
  const writer = new ByteWriter(body.bytes.length + 64)
  let copied = 0
  for (let at = 0; at < decoded.length; at++) {
    const opcode = decoded.opcodes.at(at)
    if (!names(opcode)) continue
    writer.raw(body.bytes.subarray(copied, decoded.starts.at(at)))
    writer.byte(opcode)
    writer.u32(map(decoded.first.at(at)))
    copied = decoded.starts.at(at + 1)
  }
  if (copied === 0) return body
  writer.raw(body.bytes.subarray(copied))
  return { bytes: writer.copy(), offset: body.offset }
}
