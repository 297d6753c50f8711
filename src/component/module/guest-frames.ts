/**
 * Which functions of a guest are at work, from inside of one of its imports: read off the stack as the engine tells it.
 *
 * A module may give its functions names that look like frames. It can only be taken for more, or for other, functions than
 * are at work, which is its own loss.
 */
import type { CompiledModule } from '../../ports/engine-source.ts'

/** Of a stack as V8, SpiderMonkey and JavaScriptCore write it. */
const FRAME = /.*wasm-function\[(\d+)\]/
const MOST_FRAMES = 1_000

/**
 * @returns their places among the functions that the module defines; undefined where the engine does not tell them, or
 *   there are too many to be told
 */
export function guestFrames(module: CompiledModule): readonly number[] | undefined {
  const lines = deepStack().split('\n')
  if (lines.length >= MOST_FRAMES) return undefined
  const imported = importedFunctions(module)
  const places = new Set(
    lines.flatMap((line) => {
      const index = FRAME.exec(line)?.[1]
      return index === undefined ? [] : [Number(index) - imported]
    }),
  )
  return places.size > 0 && Math.min(...places) >= 0 ? [...places] : undefined
}

/** V8 tells ten frames unless it is asked for more. Elsewhere the property is one that nobody reads. */
function deepStack(): string {
  const engine = Error as typeof Error & { stackTraceLimit?: number | undefined }
  const { stackTraceLimit } = engine
  engine.stackTraceLimit = MOST_FRAMES
  try {
    return new Error('where the guest is').stack ?? ''
  } finally {
    engine.stackTraceLimit = stackTraceLimit
  }
}

function importedFunctions(module: CompiledModule): number {
  return WebAssembly.Module.imports(module as WebAssembly.Module).filter(({ kind }) => kind === 'function')
    .length
}
