/** Which WebAssembly features this runtime validates, each asked with the smallest module that uses it. */
import type { Check } from './check.ts'

const MAGIC = [0, 97, 115, 109, 1, 0, 0, 0]
/** One function type without parameters and results, one function of it. */
const ONE_FUNCTION = [1, 4, 1, 96, 0, 0, 3, 2, 1, 0]
const ONE_MEMORY = [5, 3, 1, 0, 1]
const ONE_SHARED_MEMORY = [5, 4, 1, 3, 1, 1]

/** The module whose only function has this body (with its `end`). */
function withBody(body: readonly number[], memory: readonly number[] = []): Uint8Array<ArrayBuffer> {
  const code = [0, ...body]
  return Uint8Array.from([...MAGIC, ...ONE_FUNCTION, ...memory, 10, code.length + 2, 1, code.length, ...code])
}

interface Feature {
  readonly name: string
  readonly module: Uint8Array<ArrayBuffer>
  /** What is lost without it. `undefined` for features without which programs do not run. */
  readonly without?: string
}

const FEATURES: readonly Feature[] = [
  { name: 'sign extension', module: withBody([65, 0, 192, 26, 11]) },
  { name: 'saturating conversion', module: withBody([67, 0, 0, 0, 0, 252, 0, 26, 11]) },
  { name: 'bulk memory', module: withBody([65, 0, 65, 0, 65, 0, 252, 10, 0, 0, 11], ONE_MEMORY) },
  { name: 'reference types', module: withBody([208, 112, 26, 11]) },
  {
    name: 'SIMD',
    module: withBody([65, 0, 253, 15, 253, 98, 26, 11]),
    without: 'modules that use it cannot run',
  },
  {
    name: 'tail calls',
    module: withBody([18, 0, 11]),
    without: 'modules that use them cannot run',
  },
  {
    name: 'exceptions (legacy)',
    module: withBody([6, 64, 25, 11, 11]),
    without: 'modules that use them cannot run',
  },
  {
    name: 'exceptions (exnref)',
    module: withBody([31, 64, 0, 11, 11]),
    without: 'modules of newer toolchains that use them cannot run; programs do not need them',
  },
  {
    name: 'threads',
    module: withBody([65, 0, 254, 16, 2, 0, 26, 11], ONE_SHARED_MEMORY),
    without: 'nothing that programs need',
  },
]

/** One check for all features that are needed, and one each for what is there or missing beside them. */
export function checkWasmFeatures(): readonly Check[] {
  const missing = FEATURES.filter(({ module }) => !WebAssembly.validate(module))
  const needed = missing.filter(({ without }) => without === undefined)
  const present = FEATURES.filter((feature) => !missing.includes(feature)).map(({ name }) => name)
  const first: Check =
    needed.length === 0
      ? { name: 'WebAssembly', status: 'ok', detail: present.join(', ') }
      : {
          name: 'WebAssembly',
          status: 'fail',
          detail: `lacks ${needed.map(({ name }) => name).join(', ')}`,
          fix: 'Use Node 20.19 or newer.',
        }
  const optional = missing
    .filter(({ without }) => without !== undefined)
    .map(({ name, without }) => ({
      name,
      status: 'warn' as const,
      detail: `not here; ${without}`,
      fix: 'A newer runtime has it.',
    }))
  return [first, ...optional, checkPromiseIntegration()]
}

function checkPromiseIntegration(): Check {
  if ('Suspending' in WebAssembly) return { name: 'JSPI', status: 'ok', detail: 'stack switching is here' }
  return {
    name: 'JSPI',
    status: 'warn',
    detail: 'not here: inside a turn a program on the host thread cannot give way to the event loop',
    fix: 'Run long programs in a Worker (the default of this command, or thread: "worker"). Node 24 has it with --experimental-wasm-jspi, Node 25 without.',
  }
}
