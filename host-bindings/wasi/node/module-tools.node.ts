/** What Node brings for WASI modules: the WASI host, Workers that prepare, and Binaryen where it is installed. */
import { createRequire } from 'node:module'
import type { ModuleTools } from '../../../src/ports/module-tools.ts'
import type { WorkerPort } from '../../../src/ports/worker-port.ts'
import { BINARYEN_VERSION, loadBinaryenAsyncify } from '../../asyncify/binaryen-asyncify.ts'
import { wasiSource } from '../wasi-source.ts'

export function nodeModuleTools(openWorker: () => WorkerPort): ModuleTools {
  const tools = { wasi: wasiSource, openWorker }
  // Asked, not loaded: it is 14 MB, and a cache may know what it would make.
  return isInstalled('binaryen')
    ? { ...tools, asyncify: loadBinaryenAsyncify, asyncifyVersion: BINARYEN_VERSION }
    : tools
}

function isInstalled(name: string): boolean {
  try {
    return createRequire(import.meta.url).resolve(name) !== ''
  } catch {
    return false
  }
}
