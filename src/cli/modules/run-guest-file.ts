/** What `caisson run` does with a WebAssembly file, or a script in another language than JavaScript. */
import { basename } from 'node:path'
import { escapeText } from '../../base/escape-text.ts'
import { type Limits, parseLimits } from '../../machine/limits.ts'
import type { GuestOutcome } from '../../runtime/guest-runs.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { RunModuleOptions } from '../../runtime/wasi/module-options.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { planKeeping } from '../kept/keep-plan.ts'
import { type KeptEnd, type KeptJob, type KeptOptions, keepRun } from '../kept/keep-run.ts'
import { pathsOfPlace } from '../kept/store-place.ts'
import { findPackageRoot } from '../package-root.ts'
import { grantRights, type Rights } from '../run/grant-rights.ts'
import { inRuntime } from '../run/in-runtime.ts'
import { interruptibly } from '../run/interruption.ts'
import { readLimits } from '../run/limit-flags.ts'
import { readInput } from '../run/read-input.ts'
import { readClock, readThread } from '../run/run-plan.ts'
import { ToolFailures } from '../run/tool-failures.ts'
import { parseCount } from '../units/parse-count.ts'
import { guestRefusal, kindOfGuest, preparing, withoutDirectories } from './guest-file.ts'
import { checkGuestFlags, checkModuleNetwork, lacks, type Sort } from './guest-flags.ts'
import { guestScope, moduleDirectories } from './module-directories.ts'
import { openPreparedCache } from './prepared-cache.ts'
import { readEnv, readFileBytes, readStdin } from './read-module-input.ts'
import type { ModuleToRun } from './script-language.ts'
import { scriptLanguageOf, scriptModule, scriptRefusal } from './script-module.ts'
import { tellGuest } from './tell-guest.ts'

/** What is said of it, beside what it is. */
type GuestOptions = Pick<RunModuleOptions, 'env' | 'stdin' | 'directories' | 'grants' | 'limits' | 'signal'> &
  Pick<RunModuleOptions, 'stateDigest' | 'onProgress' | 'cache' | 'seed'>

/** Runs it with what is said of all of them, and with what it is kept with. */
type RunGuest = (runtime: Runtime, options: GuestOptions, kept: Partial<KeptOptions>) => Promise<GuestOutcome>

interface GuestFile {
  readonly sort: Sort
  readonly limits?: Partial<Limits>
  readonly run: RunGuest
  /** How what it is refused with is told. */
  readonly refusal: (error: unknown) => unknown
}

/** @returns the exit code. @throws CliError */
export async function runGuestFile(given: GivenFlags, io: CliIo): Promise<number> {
  return interruptibly(given, io, async (interruption) => {
    const [file = ''] = given.positionals
    const name = basename(file)
    const bytes = await readFileBytes(file, 'program', io)
    const guest = await guestOf(given, file, bytes, io)
    if (readThread(given.value('thread'), 'run') === 'worker') throw lacks('thread worker', guest.sort)
    const limits = parseLimits({ ...guest.limits, ...readLimits(given, 'run') })
    const seed = given.value('seed')
    const env = readEnv(given.values('env'))
    const stdin = await readStdin(given.value('stdin'), io)
    const keep = await planKeeping(given, name, io.cwd)
    const kept =
      keep === undefined ? [] : [...pathsOfPlace(keep.store), ...(keep.file ? [keep.file.path] : [])]
    const rights = await grantRights(withoutDirectories(given), kept, io.cwd)
    const failures = new ToolFailures(rights.tools, findPackageRoot().code)
    try {
      const directories = await moduleDirectories(given, [file, ...kept], io.cwd)
      const cache = await openPreparedCache()
      const { signal } = interruption
      const options: GuestOptions = {
        env,
        stdin,
        directories,
        grants: rights.grants,
        limits,
        signal,
        stateDigest: given.has('json') || keep !== undefined,
        onProgress: preparing(io, name),
        ...(cache && { cache }),
        ...(seed !== undefined && { seed: parseCount('seed', seed, '1') }),
      }
      const job: KeptJob<GuestOutcome> = {
        setting: settingOf(given, rights, failures, limits, name),
        scope: await guestScope(given, io.cwd),
        run: (runtime, _thread, own) =>
          guest.run(runtime, options, own).catch((error: unknown) => {
            throw guest.refusal(error)
          }),
      }
      const ended: KeptEnd<GuestOutcome> =
        keep === undefined
          ? { outcome: await inRuntime(job.setting, io, (runtime) => job.run(runtime, 'host', {})) }
          : await keepRun(job, keep, naming(given, file), io)
      const { outcome, goOn, keptAs } = ended
      const facts = { source: '', limits, withheld: rights.withheld, goOn }
      const kind = guest.sort === 'component' ? 'component' : 'module'
      const json = given.has('json')
      return tellGuest({ outcome, kind, facts, failures, keptAs, json, interrupted: signal.aborted }, io)
    } finally {
      await rights.close()
    }
  })
}

function settingOf(
  given: GivenFlags,
  rights: Rights,
  failures: ToolFailures,
  limits: Limits,
  name: string,
): KeptJob['setting'] {
  return {
    options: {
      capabilities: rights.capabilities,
      clock: readClock(given.value('now')),
      onCapabilityError: failures.add.bind(failures),
    },
    memoryBytes: limits.memoryBytes,
    thread: 'host',
    progress: `running ${escapeText(name)}`,
  }
}

/** What goes on with it names the file again. */
function naming(given: GivenFlags, file: string): GivenFlags {
  return { ...given, values: (name: string) => (name === 'wasm' ? [file] : given.values(name)) }
}

/** @throws CliError for what is no WebAssembly, and for flags that it does not have */
async function guestOf(given: GivenFlags, file: string, bytes: Uint8Array, io: CliIo): Promise<GuestFile> {
  const language = scriptLanguageOf(file)
  const name = basename(file)
  if (language !== undefined) {
    checkGuestFlags(given, 'script')
    const script = await scriptModule(language, { file, script: bytes, args: given.rest, cwd: io.cwd })
    const refusal = (error: unknown): unknown => scriptRefusal(guestRefusal(error), language, name)
    return { sort: 'script', limits: language.limits, run: moduleRun(script), refusal }
  }
  const sort = kindOfGuest(bytes)
  checkGuestFlags(given, sort)
  if (sort === 'module') {
    checkModuleNetwork(given, bytes)
    return {
      sort,
      run: moduleRun({ module: bytes, options: { name, args: given.rest } }),
      refusal: guestRefusal,
    }
  }
  const input = await readInput(given.value('input'), io)
  const called = given.value('call')
  const run: RunGuest = (runtime, { env, stdin, directories, ...options }, kept) =>
    runtime.runComponent(bytes, {
      ...options,
      ...kept,
      name,
      ...(called !== undefined && { export: called }),
      args: input === undefined ? [] : Array.isArray(input) ? input : [input],
      wasi: {
        args: [name, ...given.rest],
        ...(env && { env }),
        ...(stdin !== undefined && { stdin }),
        ...(directories && { directories }),
        clock: true,
        random: true,
      },
    })
  return { sort, run, refusal: guestRefusal }
}

function moduleRun({ module, options: own }: ModuleToRun): RunGuest {
  return (runtime, options, kept) =>
    runtime.runModule(module, {
      ...own,
      ...options,
      ...kept,
      env: { ...own.env, ...options.env },
      directories: { ...own.directories, ...options.directories },
    })
}
