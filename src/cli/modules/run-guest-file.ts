/** What `caisson run` does with a WebAssembly file, or a script in another language than JavaScript. */
import { basename } from 'node:path'
import { escapeText } from '../../base/escape-text.ts'
import { type Limits, parseLimits } from '../../machine/limits.ts'
import type { GuestOutcome } from '../../runtime/guest-runs.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { RunModuleOptions } from '../../runtime/wasi/module-options.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
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
import { moduleDirectories, moduleScope } from './module-directories.ts'
import { openPreparedCache } from './prepared-cache.ts'
import { readEnv, readFileBytes, readStdin } from './read-module-input.ts'
import type { ModuleToRun } from './script-language.ts'
import { scriptLanguageOf, scriptModule } from './script-module.ts'
import { type GuestKind, tellGuest } from './tell-guest.ts'

type Sort = GuestKind | 'script'

/** Flags that a sort does not have. */
const LACKS: Readonly<Record<Sort, readonly string[]>> = {
  component: ['at-end', 'allow-net'],
  module: ['at-end', 'allow-net', 'input', 'call'],
  script: ['at-end', 'allow-net', 'input', 'call', 'store', 'checkpoint', 'stop-at-call', 'run'],
}

const WORDS: Readonly<Record<Sort, string>> = {
  component: 'components',
  module: 'modules',
  script: 'scripts in other languages than JavaScript',
}

/** What is said of it, beside what it is. */
type GuestOptions = Pick<RunModuleOptions, 'env' | 'stdin' | 'directories' | 'grants' | 'limits' | 'signal'> &
  Pick<RunModuleOptions, 'stateDigest' | 'onProgress' | 'cache' | 'seed'>

/** Runs it with what is said of all of them, and with what it is kept with. */
type RunGuest = (runtime: Runtime, options: GuestOptions, kept: Partial<KeptOptions>) => Promise<GuestOutcome>

interface GuestFile {
  readonly sort: Sort
  readonly limits?: Partial<Limits>
  readonly run: RunGuest
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
        scope: await moduleScope(given, io.cwd),
        run: (runtime, _thread, own) =>
          guest.run(runtime, options, own).catch((error: unknown) => {
            throw guestRefusal(error)
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
    checkFlags(given, 'script')
    const script = await scriptModule(language, { file, script: bytes, args: given.rest, cwd: io.cwd })
    return { sort: 'script', limits: language.limits, run: moduleRun(script) }
  }
  const sort = kindOfGuest(bytes)
  checkFlags(given, sort)
  if (sort === 'module') {
    return { sort, run: moduleRun({ module: bytes, options: { name, args: given.rest } }) }
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
  return { sort, run }
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

function checkFlags(given: GivenFlags, sort: Sort): void {
  const wrong = LACKS[sort].find((flag) => given.has(flag))
  if (wrong !== undefined) throw lacks(wrong, sort)
}

function lacks(flag: string, sort: Sort): CliError {
  return new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `--${flag} means nothing for ${WORDS[sort]}.`,
    hint: 'caisson run --help',
  })
}
