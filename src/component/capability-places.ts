/** Which capability stands behind an import. Interfaces of `wasi:` are never capabilities. */
import { CaissonError } from '../base/errors.ts'
import type { GuestCapability } from '../capability/call.ts'
import type { FunctionType } from './abi/wit-type.ts'
import type { ImportedFunction } from './component-shape.ts'
import { ROOT } from './link/link-component.ts'
import { placesOf } from './wit-names.ts'

const GLOBALS = 'globals'

export interface BoundCapability {
  readonly capability: GuestCapability
  readonly index: number
}

/** Finds the capability that stands behind an import; undefined where none does. */
export class CapabilityPlaces {
  readonly #byPlace: ReadonlyMap<string, BoundCapability & { readonly name: string }>

  /** @throws CaissonError `invalid_argument` where two have the same place */
  constructor(capabilities: readonly GuestCapability[]) {
    const places = placesOf(
      capabilities.map((capability, index) => ({ name: capability.name, capability, index })),
    )
    this.#byPlace = new Map([...places].map(([key, bound]) => [key.slice(key.indexOf('/') + 1), bound]))
  }

  find({ interface: from, name }: Pick<ImportedFunction, 'interface' | 'name'>): BoundCapability | undefined {
    if (from.startsWith('wasi:')) return undefined
    const own = from === ROOT ? GLOBALS : /\/([^@/]+)(?:@.*)?$/.exec(from)?.[1]
    return this.#byPlace.get(`${own}#${name}`)
  }

  /** Whether the guest has to be suspended in it. */
  isAwaited(wanted: Pick<ImportedFunction, 'interface' | 'name'>): boolean {
    return this.find(wanted)?.capability.sync === false
  }
}

/** @throws CaissonError `invalid_component` */
export function checkCapabilityType(name: string, type: FunctionType): void {
  if (type.tuple?.handles !== true && type.result?.handles !== true) return
  throw new CaissonError(
    'invalid_component',
    `The component imports the capability "${name}" with resources, which none takes.`,
  )
}
