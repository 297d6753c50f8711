/** The kinds of guests that must agree, whatever they run. */
import type { InstancePool } from '../../src/isolate/instance-pool.ts'
import { openBuild } from './engine-builds.ts'

/** The first one is what the others are compared with. */
export const GUEST_KINDS = ['v8', 'moved', 'portable', 'plain'] as const
export type GuestKind = (typeof GUEST_KINDS)[number]

export const WHAT_GUESTS_ARE: Readonly<Record<GuestKind, string>> = {
  v8: 'metered, profile v8',
  moved: 'metered, captured in mid-test and restored in another instance',
  portable: 'metered, profile portable',
  plain: 'not metered',
}

/** A guest that did not do as the first one did. */
export interface Change {
  readonly kind: GuestKind
  readonly what: string
}

/** Instances for these kinds, and for the first one. */
export async function openPools(kinds: readonly GuestKind[]): Promise<(kind: GuestKind) => InstancePool> {
  const pools = new Map<GuestKind, InstancePool>()
  for (const kind of new Set<GuestKind>(['v8', ...kinds])) {
    const pool = kind === 'moved' ? pools.get('v8') : await openBuild(kind)
    if (pool !== undefined) pools.set(kind, pool)
  }
  return (kind) => {
    const pool = pools.get(kind)
    if (pool === undefined) throw new Error(`There are no instances for guests of the kind ${kind}.`)
    return pool
  }
}

export function isGuestKind(name: string): name is GuestKind {
  return (GUEST_KINDS as readonly string[]).includes(name)
}
