/**
 * The WASI host of one guest (see the port for what it keeps). It shares nothing with another guest's, and nothing
 * with the process.
 */
import { DISPOSE } from '../../src/base/disposal.ts'
import { CaissonError } from '../../src/base/errors.ts'
import type { WasiHost, WasiState, WasiTurns, WasiWorld } from '../../src/ports/wasi-host.ts'
import { type GrantedDirectory, openGranted } from './granted-directories.ts'
import { GuestEnd } from './guest-end.ts'
import { missingGrants } from './missing-grants.ts'
import { openPreview1 } from './preview1/preview1.ts'
import { openPreview2 } from './preview2/preview2.ts'
import { CapturedOutput, GivenInput } from './standard-streams.ts'

/** Standard streams, and one directory at the least. */
const MIN_DESCRIPTORS = 4

/**
 * @param turns how the machine waits and is stopped; its callbacks must not throw
 * @param state where a checkpoint left off; the world has to be the one that it was captured in
 * @throws CaissonError `invalid_argument`, `invalid_limit`, `corrupted` (the state)
 */
export function openWasiHost(world: WasiWorld, turns: WasiTurns, state?: WasiState): WasiHost {
  checkWorld(world)
  const end = new GuestEnd(turns)
  const streams = {
    stdin: new GivenInput(world.stdin),
    stdout: new CapturedOutput(world.limits.stdoutBytes),
    stderr: new CapturedOutput(world.limits.stderrBytes),
  }
  const granted = openGranted(world.directories)
  const context = { world, granted, streams, turns, end }
  const preview1 = openPreview1(context)
  const preview2 = openPreview2(context)
  const close = (): void => {
    preview2.close()
    preview1.close()
    for (const { root } of granted) root.close()
  }

  const restore = (from: WasiState): void => {
    if (from.version !== 1) throw new CaissonError('corrupted', 'The state of a guest is of another version.')
    // Nothing may be open in trees that are about to be replaced.
    preview1.close()
    for (const [index, { tree }] of granted.entries()) {
      const kept = from.trees[index]
      if ((kept ?? null) === null && tree.memory === undefined) continue
      tree.memory?.restore(kept)
      granted[index]?.reopen()
    }
    streams.stdin.restore(from.stdinOffset)
    streams.stdout.restore(from.stdout)
    streams.stderr.restore(from.stderr)
    preview1.restore(from)
    preview2.restore(from)
    world.clock?.moveTo(from.clock)
    world.random?.moveTo(from.random)
  }
  if (state !== undefined) {
    try {
      restore(state)
    } catch (cause) {
      close()
      if (CaissonError.is(cause)) throw cause
      throw new CaissonError('corrupted', 'The state of a guest contradicts itself.', { cause })
    }
  }

  return {
    preview1: () => preview1.imports,
    attach: (memory) => preview1.attach(memory),
    preview2: (ids) => preview2.imports(ids),
    missing: (imports) => missingGrants(world, imports),
    get end() {
      return end.reason
    },
    get stdout() {
      return streams.stdout.output
    },
    get stderr() {
      return streams.stderr.output
    },
    resource: (id) => preview2.resource(id),
    resourceId: (resource) => preview2.resourceId(resource),
    capture: () => {
      const held = { ...preview1.capture(), ...preview2.capture() }
      const handles = [
        ...held.descriptors.map(({ number, handle }) => ({ name: `descriptor ${number}`, handle })),
        ...held.resources.map(({ id, kind, data }) => ({ name: `${kind} ${id}`, handle: data })),
      ]
      refuseOutside(granted, handles)
      return {
        version: 1,
        stdinOffset: streams.stdin.offset,
        stdout: streams.stdout.output,
        stderr: streams.stderr.output,
        clock: world.clock?.position() ?? 0n,
        random: world.random?.position() ?? 0n,
        trees: granted.map(({ tree, grant }) => tree.memory?.capture(openInodes(handles, grant)) ?? null),
        ...held,
      }
    },
    [DISPOSE]: close,
  }
}

function checkWorld({ limits, args, env }: WasiWorld): void {
  for (const [name, value] of Object.entries(limits)) {
    const min = name === 'descriptors' ? MIN_DESCRIPTORS : 0
    if (Number.isSafeInteger(value) && value >= min) continue
    throw new CaissonError(
      'invalid_limit',
      `The limit "${name}" of a WASI guest takes a whole number from ${min}.`,
    )
  }
  const texts = [...args, ...Object.entries(env).flat()]
  if (
    texts.some((text) => /[\0\p{Surrogate}]/u.test(text)) ||
    Object.keys(env).some((name) => /^$|=/.test(name))
  ) {
    throw new CaissonError(
      'invalid_argument',
      'Arguments and environment of a WASI guest hold no NUL and no lone surrogates, and names of variables no "=".',
    )
  }
}

interface HeldHandle {
  readonly name: string
  readonly handle: unknown
}

/** Where it names a file or directory of a grant by inode: which. */
function outsideOf({ handle }: HeldHandle): { grant: number; inode: bigint } | undefined {
  const { grant, inode } = Object(handle) as { grant?: unknown; inode?: unknown }
  return typeof grant === 'number' && typeof inode === 'bigint' ? { grant, inode } : undefined
}

function openInodes(handles: readonly HeldHandle[], grant: number): readonly bigint[] {
  return handles.flatMap((held) => {
    const open = outsideOf(held)
    return open?.grant === grant ? [open.inode] : []
  })
}

/** @throws CaissonError `unsupported` */
function refuseOutside(granted: readonly GrantedDirectory[], handles: readonly HeldHandle[]): void {
  const outside = handles.flatMap((held) => {
    const open = outsideOf(held)
    const directory = open === undefined ? undefined : granted[open.grant]
    return directory === undefined || directory.tree.memory !== undefined
      ? []
      : [`${held.name} in ${directory.guestPath}`]
  })
  if (outside.length === 0) return
  throw new CaissonError(
    'unsupported',
    `A guest that holds files of a real directory open cannot be captured: ${outside.slice(0, 5).join(', ')}.`,
    { details: { handles: outside } },
  )
}
