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

/** Instances for each kind. */
export async function openPools(): Promise<Readonly<Record<GuestKind, InstancePool>>> {
  const v8 = await openBuild('v8')
  return { v8, moved: v8, portable: await openBuild('portable'), plain: await openBuild('plain') }
}

export function isGuestKind(name: string): name is GuestKind {
  return (GUEST_KINDS as readonly string[]).includes(name)
}
