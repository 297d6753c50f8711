/** The two smallest capabilities, for tests of everything around a call. */
import { type Capability, capability } from '../src/entry/node.ts'

/** Awaited: answers with its argument, in a later turn. */
export const echo: Capability = capability({
  name: 'tools.echo',
  description: 'Gives back what it gets',
  effect: 'read',
  invoke: async (value: unknown) => value,
})

/** Sync: answers with its argument, inside the turn. */
export const syncEcho: Capability = capability({
  name: 'tools.sync',
  description: 'Gives back what it gets, inside the turn',
  effect: 'read',
  sync: true,
  invoke: (value: unknown) => value,
})
