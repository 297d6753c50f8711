/** Whether a component can wait wherever it has to. */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import type { GuestCapability } from '../capability/call.ts'
import { CapabilityPlaces } from './capability-places.ts'
import { caught } from './caught-problem.ts'
import type { ComponentShape } from './component-shape.ts'
import type { CoreManifest } from './core/core-manifest.ts'
import { awaitsHttp, cannotAwaitHttp, FETCH, sendsHttp } from './http-calls.ts'
import type { WaitOptions } from './prepare-component.ts'

/** A component, and where each of its core modules can be suspended. */
export interface WaitingComponent {
  readonly shape: ComponentShape
  readonly cores: readonly { readonly manifest: Pick<CoreManifest, 'suspends'> }[]
}

/**
 * That guests can wait wherever they have to: in one core module, which imports the capability itself.
 * @throws CaissonError `unsupported` with `details: { imports }`
 */
export function checkWaits(
  { shape, cores }: WaitingComponent,
  { isAwaited }: Pick<WaitOptions, 'isAwaited'>,
  why = 'It has to be imported by one core module, under its own name.',
): void {
  const counts = new Map<string, number>()
  for (const { manifest } of cores) {
    const places = new Set(manifest.suspends.map(({ module, name }) => `${module}\n${name}`))
    for (const place of places) counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  const canWait = (module: string, name: string): boolean => counts.get(`${module}\n${name}`) === 1
  const stuck = shape.imports.filter((one) => isAwaited(one) && !canWait(one.interface, one.name))
  if (stuck.length === 0) return
  const names = stuck.slice(0, 20).map((one) => `${one.interface}#${one.name}`)
  throw new CaissonError(
    'unsupported',
    clipText(
      `The component cannot wait for capabilities that are answered later: ${names.join(', ')}. ${why}`,
      2_000,
    ),
    { details: { imports: names } },
  )
}

/** Whether it sends requests, with these. */
export function sendsRequests(shape: ComponentShape, capabilities: readonly GuestCapability[]): boolean {
  return capabilities.some(({ name }) => name === FETCH) && shape.imports.some(sendsHttp)
}

/** That one which sends requests can wait for their answers. @throws CaissonError `unsupported` */
export function checkAwaitsHttp({ cores }: WaitingComponent): void {
  const waits = cores.some(({ manifest }) =>
    manifest.suspends.some(({ module, name }) => awaitsHttp({ interface: module, name })),
  )
  if (!waits) throw cannotAwaitHttp()
}

/** Why it cannot wait wherever it has to with these; undefined where it can. @param why as of `checkWaits` */
export function waitProblem(
  component: WaitingComponent,
  capabilities: readonly GuestCapability[],
  why?: string,
): CaissonError | undefined {
  return caught(() => {
    const places = new CapabilityPlaces(capabilities)
    checkWaits(component, { isAwaited: (wanted) => places.isAwaited(wanted) }, why)
    if (sendsRequests(component.shape, capabilities)) checkAwaitsHttp(component)
  })
}
