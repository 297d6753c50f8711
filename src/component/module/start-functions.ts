/**
 * Which functions of a command are at work when it reads standard input for the first time: what has to be unwound, and
 * nothing else, so that its start-up can be kept (`start-up.ts`). Found by running it up to there, and looking at the
 * stack as the engine tells it.
 *
 * Whatever the engine says, and whatever a module is named so that it says something else, it is only where the module
 * is rewritten: the result is checked, metered and run like any other.
 */
import { DISPOSE } from '../../base/disposal.ts'
import { CaissonError } from '../../base/errors.ts'
import type { CompiledModule } from '../../ports/engine-source.ts'
import { ModuleGuest, type ModuleGuestParts, type ModuleGuestStart } from './module-guest.ts'

const COMMAND = '_start'
/** Of a stack as V8, SpiderMonkey and JavaScriptCore write it. */
const FRAME = /.*wasm-function\[(\d+)\]/
const MOST_FRAMES = 1_000

/**
 * @returns their places among the functions that the module defines
 * @throws CaissonError `unsupported` where it never reads standard input, asks for something else before, or the engine
 *   tells no stack
 */
export function startFunctions(
  parts: Omit<ModuleGuestParts, 'onFirstRead'>,
  start: ModuleGuestStart,
  deadline: number,
): readonly number[] {
  let stack: string | undefined
  const guest = new ModuleGuest(
    {
      ...parts,
      onFirstRead: () => {
        stack = deepStack()
        guest.core.exit(0)
      },
    },
    { ...start, program: { ...start.program, entry: COMMAND, startUp: [] } },
  )
  try {
    for (const { name } of guest.phases.calls) guest.core.run(guest.instance, name, [], { deadline })
  } catch (error) {
    if (!CaissonError.is(error, 'isolate_destroyed')) throw error
  } finally {
    guest.wasi[DISPOSE]()
  }
  const imported = importedFunctions(parts.core.module)
  const functions = new Set(placesIn(stack ?? '').map((index) => index - imported))
  if (functions.size > 0 && Math.min(...functions) >= 0) return [...functions]
  throw new CaissonError(
    'unsupported',
    stack === undefined
      ? 'The start of the module cannot be kept: it asks for something else before it reads standard input, or never does.'
      : 'The start of the module cannot be kept: this runtime does not tell which functions are at work.',
  )
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

function placesIn(stack: string): readonly number[] {
  return stack.split('\n').flatMap((line) => {
    const index = FRAME.exec(line)?.[1]
    return index === undefined ? [] : [Number(index)]
  })
}

function importedFunctions(module: CompiledModule): number {
  return WebAssembly.Module.imports(module as WebAssembly.Module).filter(({ kind }) => kind === 'function')
    .length
}
