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
import { guestFrames } from './guest-frames.ts'
import { ModuleGuest, type ModuleGuestParts, type ModuleGuestStart } from './module-guest.ts'

const COMMAND = '_start'

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
  let reads = false
  let functions: readonly number[] | undefined
  const guest = new ModuleGuest(
    {
      ...parts,
      onFirstRead: () => {
        reads = true
        functions = guestFrames(parts.core.module)
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
  if (functions !== undefined) return functions
  throw new CaissonError(
    'unsupported',
    !reads
      ? 'The start of the module cannot be kept: it asks for something else before it reads standard input, or never does.'
      : 'The start of the module cannot be kept: its stack is too deep, or this runtime does not tell which functions are at work.',
  )
}
