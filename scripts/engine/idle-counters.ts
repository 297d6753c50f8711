/** The edited engine without metering, for what measures: block counts, and the base of the fuel overhead. */
import { encodeModule, parseModule } from '../../src/wasm/binary.ts'
import { i32Constant } from '../../src/wasm/constant-expression.ts'
import { addExport, addGlobal } from '../../src/wasm/edit.ts'
import { DEPTH_EXPORT, FUEL_EXPORT } from '../../src/wasm/meter-options.ts'
import { I32, I64 } from '../../src/wasm/value-type.ts'

/** Adds the globals that an instance wants of a metered module. Nothing counts them down. */
export function withIdleCounters(wasm: Uint8Array): Uint8Array {
  const i64Zero = new Uint8Array([0x42, 0, 0x0b])
  const fuel = addGlobal(parseModule(wasm), { type: { value: I64, mutable: true }, init: i64Zero })
  const depth = addGlobal(fuel.module, { type: { value: I32, mutable: true }, init: i32Constant(0) })
  const exported = addExport(depth.module, { name: FUEL_EXPORT, kind: 'global', index: fuel.index })
  return encodeModule(addExport(exported, { name: DEPTH_EXPORT, kind: 'global', index: depth.index }))
}
