/** Preview 2 for one guest: interfaces by id, and the resources that it holds of them. */
import { CaissonError } from '../../../src/base/errors.ts'
import type { WasiInterface, WasiResourceState, WasiTurns, WasiWorld } from '../../../src/ports/wasi-host.ts'
import type { GrantedDirectory } from '../granted-directories.ts'
import type { GuestEnd } from '../guest-end.ts'
import type { StandardStreams } from '../standard-streams.ts'
import { clockInterfaces, randomInterfaces } from './clocks-random.ts'
import { Descriptor, DirectoryEntryStream } from './descriptor.ts'
import { httpInterfaces } from './http.ts'
import { Pollable, type Preview2Context, pollAll } from './pollable.ts'
import { Resource, ResourceTable } from './resource.ts'
import { RESTORABLE, restoreResource } from './restore-resource.ts'
import { SOCKET_INTERFACES } from './sockets.ts'
import { InputStream, inputSource, OutputStream, outputSink, StreamError } from './streams.ts'

export interface Preview2Options {
  readonly world: WasiWorld
  readonly granted: readonly GrantedDirectory[]
  readonly streams: StandardStreams
  readonly turns: WasiTurns
  readonly end: GuestEnd
}

export interface Preview2 {
  imports(ids: readonly string[]): Readonly<Record<string, WasiInterface>>
  resource(id: number): object | undefined
  resourceId(resource: object): number | undefined
  /** @throws CaissonError `unsupported`, for resources of HTTP */
  capture(): Preview2State
  /** @throws CaissonError `corrupted` */
  restore(state: Preview2State): void
  close(): void
}

export interface Preview2State {
  readonly resources: readonly WasiResourceState[]
  readonly nextResource: number
}

export function openPreview2(options: Preview2Options): Preview2 {
  const { world, granted, streams, end } = options
  const resources = new ResourceTable(world.limits.resources, end)
  const context: Preview2Context = { ...options, resources, unsent: { bytes: 0 } }
  const interfaces = interfacesOf(context, granted, streams)
  const closeAll = (): void => {
    for (const resource of resources.all()) resource.drop()
  }
  return {
    imports: (ids) =>
      Object.fromEntries(
        ids.flatMap((id) => {
          const [name = ''] = id.split('@')
          const found = Object.hasOwn(interfaces, name) ? interfaces[name] : undefined
          return found === undefined ? [] : [[id, found]]
        }),
      ),
    resource: (id) => resources.find(id),
    resourceId: (resource) =>
      resource instanceof Resource && resources.find(resource.id) === resource ? resource.id : undefined,
    capture: () => {
      const held = resources.all().map((resource) => ({ id: resource.id, ...resource.state() }))
      const handles = held
        .filter(({ kind, data }) => !RESTORABLE.has(kind) || (Object(data) as { of?: unknown }).of === 'http')
        .map(({ id, kind }) => `${kind} ${id}`)
      if (handles.length > 0) {
        throw new CaissonError(
          'unsupported',
          `A guest that holds these cannot be captured: ${handles.slice(0, 5).join(', ')}.`,
          { details: { handles } },
        )
      }
      return { resources: held, nextResource: resources.next }
    },
    restore: (state) => {
      closeAll()
      if (state.resources.length > world.limits.resources) {
        throw new CaissonError('corrupted', 'The state of a guest holds more resources than it may.')
      }
      let last = 0
      for (const held of state.resources) {
        const isNumber = Number.isSafeInteger(held.id) && held.id > last && held.id < state.nextResource
        if (!isNumber)
          throw new CaissonError('corrupted', 'The state of a guest numbers its resources wrongly.')
        last = held.id
        resources.next = held.id
        restoreResource(context, granted, streams, held)
      }
      if (!Number.isSafeInteger(state.nextResource)) {
        throw new CaissonError('corrupted', 'The state of a guest numbers its resources wrongly.')
      }
      resources.next = state.nextResource
    },
    close: closeAll,
  }
}

function interfacesOf(
  context: Preview2Context,
  granted: readonly GrantedDirectory[],
  streams: StandardStreams,
): Readonly<Record<string, WasiInterface>> {
  const { world, end } = context
  class TerminalInput {}
  class TerminalOutput {}
  return {
    'wasi:cli/environment': {
      getEnvironment: () => Object.entries(world.env),
      getArguments: () => [...world.args],
      initialCwd: () => undefined,
    },
    'wasi:cli/exit': {
      exit: (status: { readonly tag: string }) =>
        end.end({ kind: 'exit', code: status.tag === 'ok' ? 0 : 1 }),
      exitWithCode: (code: number) => end.end({ kind: 'exit', code }),
    },
    'wasi:cli/stdin': { getStdin: () => new InputStream(context, inputSource(streams.stdin)) },
    'wasi:cli/stdout': { getStdout: () => new OutputStream(context, outputSink(streams.stdout, 'stdout')) },
    'wasi:cli/stderr': { getStderr: () => new OutputStream(context, outputSink(streams.stderr, 'stderr')) },
    'wasi:cli/terminal-input': { TerminalInput },
    'wasi:cli/terminal-output': { TerminalOutput },
    'wasi:cli/terminal-stdin': { getTerminalStdin: () => undefined },
    'wasi:cli/terminal-stdout': { getTerminalStdout: () => undefined },
    'wasi:cli/terminal-stderr': { getTerminalStderr: () => undefined },
    'wasi:io/error': { Error: StreamError },
    'wasi:io/poll': { Pollable, poll: (list: readonly Pollable[]) => pollAll(context, list) },
    'wasi:io/streams': { InputStream, OutputStream },
    'wasi:filesystem/preopens': {
      getDirectories: () =>
        granted.map((directory) => {
          const node = { kind: 'directory', directory: directory.root, isRoot: true } as const
          const flags = { read: true, mutateDirectory: directory.writable }
          return [new Descriptor(context, directory, node, flags), directory.guestPath]
        }),
    },
    'wasi:filesystem/types': {
      Descriptor,
      DirectoryEntryStream,
      filesystemErrorCode: (error: StreamError) => error.code,
    },
    ...clockInterfaces(context),
    ...randomInterfaces(context),
    ...httpInterfaces(context),
    ...SOCKET_INTERFACES,
  }
}
