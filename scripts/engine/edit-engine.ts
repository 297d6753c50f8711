/**
 * Turns the upstream module into the engine before metering: real names, a small stack and memory, and what
 * checkpoints and the rejection tracker need. Pure: same bytes in, same bytes out.
 */
import { ENGINE_IMPORT_MODULE, type EngineLayout } from '../../src/isolate/engine.ts'
import { encodeModule, type Module, parseModule } from '../../src/wasm/binary.ts'
import { i32Constant } from '../../src/wasm/constant-expression.ts'
import * as edit from '../../src/wasm/edit.ts'
import { indexSpaces } from '../../src/wasm/module.ts'
import { FUNCREF, I32, I64 } from '../../src/wasm/value-type.ts'
import { EXPORT_NAMES, IMPORT_NAMES, UPSTREAM_LAYOUT } from './upstream.ts'

const STACK_BYTES = 256 * 1024
/** Room for runtime, context and a small program; a guest that needs more grows. */
const INITIAL_PAGES = 12
/** More than any limit: the memory that is imported has the maximum of its guest. */
const MAX_PAGES = 32_768

export interface EditedEngine {
  readonly wasm: Uint8Array
  readonly layout: EngineLayout
}

export function editEngine(upstream: Uint8Array): EditedEngine {
  let module = parseModule(upstream)
  module = edit.filterCustomSections(module, () => false)
  module = renameAll(module)

  // One mutable global: the stack pointer. The stack lies between the static data and the heap.
  const stackPointer = module.globals.findIndex(
    (_, i) => edit.globalI32(module, i) === UPSTREAM_LAYOUT.stackBase,
  )
  const stackEnd = UPSTREAM_LAYOUT.stackBase - UPSTREAM_LAYOUT.stackBytes
  const stackBase = stackEnd + STACK_BYTES
  module = edit.setGlobalI32(module, stackPointer, stackBase)
  module = edit.addExport(module, { name: '__stack_pointer', kind: 'global', index: stackPointer })

  // The allocator's end of the heap starts where the stack does.
  module = replaceWord(module, UPSTREAM_LAYOUT.stackBase, stackBase)
  module = edit.setMemoryLimits(module, 0, INITIAL_PAGES, MAX_PAGES)

  // The runtime calls its rejection tracker through the function table: give it an import of ours there.
  const tracker = edit.addFunctionImport(module, ENGINE_IMPORT_MODULE, 'promise_rejection', {
    params: [I32, I64, I64, I32, I32],
    results: [],
  })
  const rejectionSlot = indexSpaces(tracker.module).tables[0]?.limits.min ?? 0
  module = edit.growTable(tracker.module, 0, 1)
  module = {
    ...module,
    elements: [
      ...module.elements,
      {
        mode: { kind: 'active', index: 0, offset: i32Constant(rejectionSlot) },
        type: FUNCREF,
        items: { kind: 'functions', indices: [tracker.index] },
      },
    ],
  }
  return {
    wasm: encodeModule(module),
    layout: {
      stackEnd,
      stackBase,
      initialPages: INITIAL_PAGES,
      heapEndAddress: UPSTREAM_LAYOUT.heapEndAddress,
      rejectionSlot,
      rejectionField: UPSTREAM_LAYOUT.rejectionField,
    },
  }
}

function renameAll(module: Module): Module {
  const exports = new Map(Object.entries(EXPORT_NAMES))
  const imported = edit.renameImports(module, ({ name }) => {
    const real = IMPORT_NAMES[name]
    if (real === undefined) throw new Error(`The upstream module imports "${name}", which has no name here.`)
    return { module: ENGINE_IMPORT_MODULE, name: real }
  })
  return edit.renameExports(
    edit.filterExports(imported, ({ name }) => exports.has(name)),
    exports,
  )
}

/**
 * Gives the one word of static data that has value `from` another one. The segments are passive (a start
 * section copies them), and trailing zeros are cut off: three bytes are what is there to find.
 */
function replaceWord(module: Module, from: number, to: number): Module {
  const wanted = littleEndian(from).subarray(0, 3)
  const found: [segment: number, offset: number][] = []
  module.data.forEach(({ bytes }, segment) => {
    for (let i = 0; i + 3 <= bytes.length; i += 1) {
      if (wanted.every((byte, k) => bytes[i + k] === byte)) found.push([segment, i])
    }
  })
  const [place] = found
  if (place === undefined || found.length > 1 || to >= 2 ** 24) {
    throw new Error(`Expected one word ${from} in the static data, found ${found.length}.`)
  }
  return edit.patchSegment(module, place[0], place[1], littleEndian(to).subarray(0, 3))
}

function littleEndian(value: number): Uint8Array {
  return new Uint8Array(new Uint32Array([value]).buffer)
}
