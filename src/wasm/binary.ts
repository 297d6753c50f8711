/** The binary format: bytes to `Module` and back. */
export { encodeModule } from './encode-module.ts'
export type * from './module.ts'
export { parseModule } from './parse-module.ts'
