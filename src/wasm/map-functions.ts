/** Renumbers the functions of a module wherever they are named: code, tables, exports, start, names. */
import { ByteWriter } from './byte-writer.ts'
import { codeContext } from './code-context.ts'
import { mapFunctionReferences } from './constant-expression.ts'
import { decodeBody } from './decode-body.ts'
import { DecodedBody } from './decoded-body.ts'
import type { ElementSegment, FunctionBody, Module, SegmentMode } from './module.ts'
import { mapNameSection } from './name-section.ts'
import { OP } from './opcode-table.ts'

/** Gives the new index of a function. */
export type FunctionMap = (functionIndex: number) => number

/**
 * The module with every reference to function `i` turned into one to `map(i)`. The functions themselves stay
 * where they are: the caller adds or moves them so that the references are right again.
 */
export function mapFunctions(module: Module, map: FunctionMap): Module {
  return {
    ...module,
    bodies: mapBodies(module, map),
    exports: module.exports.map((item) =>
      item.kind === 'function' ? { ...item, index: map(item.index) } : item,
    ),
    ...(module.start === undefined ? {} : { start: map(module.start) }),
    elements: module.elements.map((segment) => mapElement(segment, map)),
    globals: module.globals.map((global) => ({ ...global, init: mapFunctionReferences(global.init, map) })),
    tables: module.tables.map((table) =>
      table.init === undefined ? table : { ...table, init: mapFunctionReferences(table.init, map) },
    ),
    customs: module.customs.map((custom) => (custom.name === 'name' ? mapNameSection(custom, map) : custom)),
  }
}

function mapElement(segment: ElementSegment, map: FunctionMap): ElementSegment {
  const { items } = segment
  return {
    type: segment.type,
    mode: mapMode(segment.mode, map),
    items:
      items.kind === 'functions'
        ? { kind: 'functions', indices: items.indices.map(map) }
        : {
            kind: 'expressions',
            expressions: items.expressions.map((expression) => mapFunctionReferences(expression, map)),
          },
  }
}

function mapMode(mode: SegmentMode, map: FunctionMap): SegmentMode {
  return mode.kind === 'active' ? { ...mode, offset: mapFunctionReferences(mode.offset, map) } : mode
}

function mapBodies(module: Module, map: FunctionMap): FunctionBody[] {
  const context = codeContext(module)
  const decoded = new DecodedBody()
  return module.bodies.map((body, index) => {
    decodeBody(context, body, context.importedFunctions + index, decoded)
    return mapBody(body, decoded, map)
  })
}

/** Whether the first immediate of `opcode` is a function. */
function namesFunction(opcode: number): boolean {
  return opcode === OP.call || opcode === OP.refFunc || opcode === OP.returnCall
}

function mapBody(body: FunctionBody, decoded: DecodedBody, map: FunctionMap): FunctionBody {
  const writer = new ByteWriter(body.bytes.length + 64)
  let copied = 0
  for (let at = 0; at < decoded.length; at++) {
    const opcode = decoded.opcodes.at(at)
    if (!namesFunction(opcode)) continue
    writer.raw(body.bytes.subarray(copied, decoded.starts.at(at)))
    writer.byte(opcode)
    writer.u32(map(decoded.first.at(at)))
    copied = decoded.starts.at(at + 1)
  }
  if (copied === 0) return body
  writer.raw(body.bytes.subarray(copied))
  return { bytes: writer.copy(), offset: body.offset }
}
