/**
 * One leg of the way of a component, or of a module, that goes on elsewhere: from its begin or from what was kept of it, to
 * its end or to the call at which it is parked. The same source runs in processes and in pages.
 */
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import { fromBase64, toBase64 } from '../../../src/base/base64.ts'
import type { Digest } from '../../../src/base/digest.ts'
import type { PrebuiltManifest, RuntimeOptions } from '../../../src/entry/exports.ts'
import type { RunStore } from '../../../src/ports/run-store.ts'
import type { OpenComponentOptions } from '../../../src/runtime/components/component-options.ts'
import type { Runtime } from '../../../src/runtime/runtime.ts'
import type { ModuleOutcome, PreparedModule } from '../../../src/runtime/wasi/module-options.ts'

/** Bytes are base64: a leg is handed over as JSON. */
export interface ComponentLeg {
  readonly kind: 'component'
  readonly manifest: PrebuiltManifest
  readonly files: Readonly<Record<string, string>>
  /** A checkpoint. */
  readonly from?: string
  /** It is parked there: nobody is asked. */
  readonly stopAtCall?: number
  /** It is kept there while somebody is at work on it, and never answered. */
  readonly stuckAtCall?: number
}

export interface ModuleLeg {
  readonly kind: 'module'
  readonly module: Omit<PreparedModule, 'wasm'> & { readonly wasm: string }
  readonly entry: string
  readonly from?: KeptRun
  readonly stopAtCall?: number
}

export type Leg = ComponentLeg | ModuleLeg

/** All that a store has of a run. */
interface KeptRun {
  readonly position: number
  readonly summary: string
  readonly blobs: readonly (readonly [id: string, bytes: string])[]
  readonly entries: readonly string[]
}

/** How far it came: to its end, or to what another leg begins from. */
export interface Arrival {
  readonly status: string
  readonly value?: unknown
  readonly fuel: number
  readonly digest: string
  readonly from?: string | KeptRun
}

type Open = (options: RuntimeOptions) => Promise<Runtime>

const NOW = 1_700_000_000_000
const CLOCK = { now: () => NOW, monotonic: () => performance.now() }
const RUN = 'asking'
const INPUT = 'a\nb\nc'

/** @param stuck told the checkpoint of one that nobody answers */
export function travel(open: Open, leg: Leg, stuck: (from: string) => void): Promise<Arrival> {
  return leg.kind === 'component' ? travelAsComponent(open, leg, stuck) : travelAsModule(open, leg)
}

export const COMPONENT_OPTIONS: Pick<OpenComponentOptions, 'grants' | 'seed' | 'nowMs'> = {
  grants: ['hostCall'],
  seed: 7,
  nowMs: NOW,
}

/** Answers what a component asks. @param asked told the number of each call */
export function sayer(asked: (count: number) => Promise<void> = async () => {}): RuntimeOptions {
  let count = 0
  return {
    capabilities: [
      {
        name: 'hostCall',
        description: 'Says what it is told.',
        effect: 'read',
        invoke: async (input) => {
          count += 1
          await asked(count)
          return `said ${(input as { arguments: string }).arguments}`
        },
      },
    ],
  }
}

async function travelAsComponent(
  open: Open,
  { manifest, files, from, stopAtCall, stuckAtCall }: ComponentLeg,
  stuck: (from: string) => void,
): Promise<Arrival> {
  const options = sayer(async (count) => {
    if (count !== stuckAtCall) return
    stuck(toBase64(await component.checkpoint()))
    await new Promise(() => {})
  })
  const runtime = await open(options)
  const read = (file: string): Uint8Array => fromBase64(files[file] as string)
  const component = await runtime.openComponent(
    { manifest, read },
    { ...COMPONENT_OPTIONS, ...(from !== undefined && { from: fromBase64(from) }) },
  )
  const outcome =
    from === undefined
      ? await component.call('run', [INPUT], stopAtCall === undefined ? {} : { stopAtCall })
      : await component.goOn()
  return {
    status: outcome.status,
    ...(outcome.status === 'completed' && { value: outcome.value }),
    fuel: outcome.usage.fuel,
    digest: component.stateDigest(),
    ...(outcome.status === 'suspended' && { from: toBase64(await component.checkpoint()) }),
  }
}

async function travelAsModule(
  open: Open,
  { module: { wasm, ...described }, entry, from, stopAtCall }: ModuleLeg,
): Promise<Arrival> {
  const store = createMemoryRunStore()
  if (from !== undefined) await unpackRun(store, from)
  const lookup = {
    name: 'prices.lookup',
    description: 'The price of a product.',
    effect: 'read',
    invoke: async (args: unknown) => Number((args as { sku: string }).sku.slice(1)) + 10,
  } as const
  const runtime = await open({
    store,
    capabilities: [lookup],
    clock: CLOCK,
    checkpoints: { every: { calls: 1 } },
  })
  const module = { ...described, wasm: fromBase64(wasm) }
  const options = { grants: ['prices.lookup'], stateDigest: true } as const
  const stop = stopAtCall === undefined ? {} : { stopAtCall }
  const outcome =
    from === undefined
      ? await runtime.runModule(module, { ...options, ...stop, entry, args: ['5'], seed: 7, run: RUN })
      : await runtime.resumeModule(RUN, module, { ...options, ...stop })
  return {
    ...arrivalOf(outcome),
    ...(outcome.status === 'suspended' && { from: await packRun(store) }),
  }
}

function arrivalOf(outcome: ModuleOutcome): Arrival {
  const { status, usage, stateDigest = '' } = outcome
  if (outcome.status !== 'completed') return { status, fuel: usage.fuel, digest: stateDigest }
  const { exitCode, stdout } = outcome.value as { exitCode: number; stdout: Uint8Array }
  const value = { exitCode, stdout: new TextDecoder().decode(stdout) }
  return { status, value, fuel: usage.fuel, digest: stateDigest }
}

async function packRun(store: RunStore): Promise<KeptRun> {
  const head = await store.head(RUN)
  if (head === undefined) throw new Error('The run was not kept.')
  const blobs = head.chain.map(async (id) => [id, toBase64((await store.getBlob(id)) as Uint8Array)] as const)
  return {
    position: head.position,
    summary: toBase64(head.summary),
    blobs: await Promise.all(blobs),
    entries: (await store.entries(RUN, 0, 10_000)).map(toBase64),
  }
}

async function unpackRun(store: RunStore, { position, summary, blobs, entries }: KeptRun): Promise<void> {
  for (const [id, bytes] of blobs) await store.putBlob(id as Digest, fromBase64(bytes))
  const lease = await store.lease(RUN, 60_000)
  await store.append(RUN, 0, entries.map(fromBase64), lease)
  const chain = blobs.map(([id]) => id as Digest)
  await store.setHead(RUN, { version: 1, chain, position, summary: fromBase64(summary) }, lease)
  await lease.release()
}
