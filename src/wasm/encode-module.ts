/** Writes a `Module` in the binary format: the shortest encodings, sections in order, empty ones left out. */
import { ByteWriter } from './byte-writer.ts'
import type {
  CustomSection,
  DataSegment,
  ElementSegment,
  ExternKind,
  FunctionType,
  GlobalType,
  ImportType,
  Limits,
  Module,
  Table,
  TableType,
} from './module.ts'
import { MAGIC, SECTION, SECTION_ORDER } from './section.ts'
import { FUNCREF, writeValueType } from './value-type.ts'

const KIND_BYTES: Readonly<Record<ExternKind, number>> = {
  function: 0,
  table: 1,
  memory: 2,
  global: 3,
  tag: 4,
}

/** The bytes of `module`. Equal modules give equal bytes. */
export function encodeModule(module: Module): Uint8Array {
  const out = new ByteWriter(estimateSize(module))
  out.raw(MAGIC)
  const section = new ByteWriter(1 << 16)
  writeCustoms(out, module.customs, SECTION.custom)
  for (const id of SECTION_ORDER) {
    section.clear()
    if (writeSection(section, module, id)) {
      out.byte(id)
      out.sized(section.bytes())
    }
    writeCustoms(out, module.customs, id)
  }
  return out.copy()
}

function estimateSize(module: Module): number {
  let size = 4096
  for (const body of module.bodies) size += body.bytes.length + 5
  for (const segment of module.data) size += segment.bytes.length + 16
  for (const custom of module.customs) size += custom.bytes.length + custom.name.length + 16
  return size
}

function writeCustoms(out: ByteWriter, customs: readonly CustomSection[], after: number): void {
  for (const custom of customs) {
    if (custom.after !== after) continue
    const content = new ByteWriter(custom.bytes.length + custom.name.length + 8)
    content.name(custom.name)
    content.raw(custom.bytes)
    out.byte(SECTION.custom)
    out.sized(content.bytes())
  }
}

/** Writes the content of section `id`; false if the section is left out. */
function writeSection(w: ByteWriter, module: Module, id: number): boolean {
  switch (id) {
    case SECTION.type:
      return writeEach(w, module.types, (type) => writeFunctionType(w, type))
    case SECTION.import:
      return writeEach(w, module.imports, (item) => {
        w.name(item.module)
        w.name(item.name)
        writeImportType(w, item.desc)
      })
    case SECTION.function:
      return writeEach(w, module.functions, (type) => w.u32(type))
    case SECTION.table:
      return writeEach(w, module.tables, (table) => writeTable(w, table))
    case SECTION.memory:
      return writeEach(w, module.memories, (limits) => writeLimits(w, limits))
    case SECTION.tag:
      return writeEach(w, module.tags, (type) => {
        w.byte(0)
        w.u32(type)
      })
    case SECTION.global:
      return writeEach(w, module.globals, (global) => {
        writeGlobalType(w, global.type)
        w.raw(global.init)
      })
    case SECTION.export:
      return writeEach(w, module.exports, (item) => {
        w.name(item.name)
        w.byte(KIND_BYTES[item.kind])
        w.u32(item.index)
      })
    case SECTION.start:
      if (module.start !== undefined) w.u32(module.start)
      return module.start !== undefined
    case SECTION.element:
      return writeEach(w, module.elements, (segment) => writeElement(w, segment))
    case SECTION.dataCount:
      w.u32(module.data.length)
      return module.dataCount
    case SECTION.code:
      return writeEach(w, module.bodies, (body) => w.sized(body.bytes))
    default:
      return writeEach(w, module.data, (segment) => writeData(w, segment))
  }
}

function writeEach<T>(w: ByteWriter, items: readonly T[], write: (item: T) => void): boolean {
  w.u32(items.length)
  for (const item of items) write(item)
  return items.length > 0
}

function writeFunctionType(w: ByteWriter, type: FunctionType): void {
  w.byte(0x60)
  writeEach(w, type.params, (param) => writeValueType(w, param))
  writeEach(w, type.results, (result) => writeValueType(w, result))
}

function writeImportType(w: ByteWriter, desc: ImportType): void {
  w.byte(KIND_BYTES[desc.kind])
  switch (desc.kind) {
    case 'function':
      w.u32(desc.type)
      break
    case 'table':
      writeTableType(w, desc.table)
      break
    case 'memory':
      writeLimits(w, desc.limits)
      break
    case 'global':
      writeGlobalType(w, desc.global)
      break
    case 'tag':
      w.byte(0)
      w.u32(desc.type)
      break
  }
}

function writeGlobalType(w: ByteWriter, type: GlobalType): void {
  writeValueType(w, type.value)
  w.byte(type.mutable ? 1 : 0)
}

function writeTable(w: ByteWriter, table: Table): void {
  if (table.init !== undefined) w.raw([0x40, 0x00])
  writeTableType(w, table.type)
  if (table.init !== undefined) w.raw(table.init)
}

function writeTableType(w: ByteWriter, type: TableType): void {
  writeValueType(w, type.element)
  writeLimits(w, type.limits)
}

function writeLimits(w: ByteWriter, limits: Limits): void {
  w.byte((limits.max === undefined ? 0 : 1) | (limits.shared ? 2 : 0) | (limits.index64 ? 4 : 0))
  w.u32(limits.min)
  if (limits.max !== undefined) w.u32(limits.max)
}

function writeElement(w: ByteWriter, segment: ElementSegment): void {
  const { mode, items } = segment
  const expressions = items.kind === 'expressions'
  const plain = mode.kind === 'active' && mode.index === 0 && segment.type === FUNCREF
  const modeFlags = mode.kind === 'active' ? (plain ? 0 : 2) : mode.kind === 'passive' ? 1 : 3
  w.u32(modeFlags | (expressions ? 4 : 0))
  if (mode.kind === 'active') {
    if (!plain) w.u32(mode.index)
    w.raw(mode.offset)
  }
  if (modeFlags !== 0) {
    if (expressions) writeValueType(w, segment.type)
    else w.byte(0)
  }
  if (items.kind === 'expressions') writeEach(w, items.expressions, (expression) => w.raw(expression))
  else writeEach(w, items.indices, (index) => w.u32(index))
}

function writeData(w: ByteWriter, segment: DataSegment): void {
  const { mode } = segment
  if (mode.kind === 'active') {
    w.u32(mode.index === 0 ? 0 : 2)
    if (mode.index !== 0) w.u32(mode.index)
    w.raw(mode.offset)
  } else {
    w.u32(1)
  }
  w.sized(segment.bytes)
}
