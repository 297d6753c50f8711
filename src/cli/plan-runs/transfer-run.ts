/** What `caisson export`, `import`, `erase` and `compact` do. */
import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CaissonError } from '../../base/errors.ts'
import type { PlanRun } from '../../runtime/plans/plan-run.ts'
import type { RunView } from '../../runtime/plans/run-view.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { TENANT } from '../kept/run-place.ts'
import { jsonText } from '../render/json-text.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { showSize } from '../units/parse-size.ts'
import { inPlanSession } from './plan-session.ts'
import { readBy } from './who.ts'

/** @returns the exit code. @throws CliError */
export async function eraseRun(given: GivenFlags, io: CliIo): Promise<number> {
  const [run = ''] = given.positionals
  return inPlanSession(given, io, { command: 'erase', run, tools: false }, async ({ runtime }) => {
    const by = readBy(given)
    const unreadable = given.has('unreadable')
    await runtime.erase(run, { by, domain: TENANT, ...(unreadable && { unreadable }) })
    const erased = await erasedOf(runtime, run, unreadable)
    if (given.has('json')) io.stdout.write(`${jsonText({ run, erased })}\n`)
    else io.stdout.write(`erased the values of ${run}: what happened can still be verified\n`)
    return EXIT.done
  })
}

/** Of a run that cannot be read there is nothing to show. */
async function erasedOf(
  runtime: Runtime,
  run: string,
  unreadable: boolean,
): Promise<RunView['erased'] | null> {
  try {
    return (await (await runtime.planRun(run, { domain: TENANT })).view()).erased
  } catch (error) {
    if (unreadable && CaissonError.is(error)) return null
    throw error
  }
}

/** @returns the exit code. @throws CliError */
export async function compactRun(given: GivenFlags, io: CliIo): Promise<number> {
  const [run = ''] = given.positionals
  return inPlanSession(given, io, { command: 'compact', run, tools: false }, async ({ runtime }) => {
    await runtime.compact(run, { by: readBy(given), domain: TENANT })
    const { cut } = await (await runtime.planRun(run, { domain: TENANT })).view()
    if (given.has('json')) io.stdout.write(`${jsonText({ run, cut })}\n`)
    else io.stdout.write(`cut the journal of ${run}: a statement of what it was stands in its place\n`)
    return EXIT.done
  })
}

const MOST_BYTES = 1024 * 1024 * 1024

/** @returns the exit code. @throws CliError */
export async function exportPlanRun(given: GivenFlags, io: CliIo): Promise<number> {
  const [run = ''] = given.positionals
  const output = given.value('output')
  if (output === undefined) {
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: 'Say where it is written to: --output FILE.',
      hint: `caisson export ${run} --store DIR --output ${run}.run`,
    })
  }
  return inPlanSession(given, io, { command: 'export', run, tools: false }, async ({ runtime }) => {
    const bytes = await runtime.exportRun(run, { domain: TENANT })
    await writeFile(resolve(io.cwd, output), output, bytes)
    if (given.has('json')) io.stdout.write(`${jsonText({ run, bytes: bytes.length })}\n`)
    else io.stdout.write(`exported ${run}, ${showSize(bytes.length)}\n`)
    return EXIT.done
  })
}

/** @returns the exit code. @throws CliError */
export async function importPlanRun(given: GivenFlags, io: CliIo): Promise<number> {
  const [file = ''] = given.positionals
  const bytes = await readFile(resolve(io.cwd, file), file)
  return inPlanSession(given, io, { command: 'import', tools: false, makes: true }, async (session) => {
    const { runtime, storeName } = session
    const run = await takeOver(runtime, bytes, storeName)
    const { status, point } = await run.view()
    if (given.has('json')) io.stdout.write(`${jsonText({ run: run.run, status, point })}\n`)
    else {
      io.stdout.write(`imported ${run.run}, ${status}\n`)
      if (status === 'frozen')
        io.stdout.write(
          `Read-only until somebody confirms where it stands:\n  caisson show ${run.run} --store ${storeName}\n  caisson resume ${run.run} --store ${storeName} --confirm ${point}\n`,
        )
    }
    return EXIT.done
  })
}

/** A run keeps the name that it has: another one is no way out. */
async function takeOver(runtime: Runtime, bytes: Uint8Array, storeName: string): Promise<PlanRun> {
  try {
    return await runtime.importRun(bytes, { domain: TENANT })
  } catch (error) {
    if (!CaissonError.is(error, 'already_exists')) throw error
    const { code, message, details } = error
    const store = shellQuote(storeName)
    const there =
      typeof details.run === 'string'
        ? ` caisson show ${shellQuote(details.run)} --store ${store} says how the one that is there stands.`
        : ''
    const hint = `Nothing was changed: a run is taken over under its own name, so name another store.${there}`
    throw new CliError({ exit: EXIT.usage, code, message, hint, cause: error })
  }
}

/** Whole or not at all: a file that was there before is replaced by a finished one. @throws CliError */
async function writeFile(path: string, shown: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    // Values of the run are in it.
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, path)
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => {})
    throw new CliError({
      exit: EXIT.internal,
      code: 'store_failed',
      message: `${shown} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`,
      hint: 'The run is in its store as before.',
      cause,
    })
  }
}

/** @throws CliError */
async function readFile(path: string, shown: string): Promise<Uint8Array> {
  try {
    const handle = await open(path, 'r')
    try {
      const { size } = await handle.stat()
      if (size > MOST_BYTES) throw new Error(`it has more than ${showSize(MOST_BYTES)}`)
      return new Uint8Array(await handle.readFile())
    } finally {
      await handle.close()
    }
  } catch (cause) {
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `${shown} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    })
  }
}
