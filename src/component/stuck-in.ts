import { clipText } from '../base/escape-text.ts'
import { GuestStop } from './component-outcome.ts'
import type { SuspendingImport } from './core/core-manifest.ts'

/** What ends a guest that calls, where it cannot wait, what is answered later. */
export function stuckIn({ module, name }: SuspendingImport): GuestStop {
  const message = `The component called "${clipText(`${module}#${name}`, 120)}" where it cannot wait: inside of another call, or from a module that was not prepared for it. With runComponent and suspension: "reexecute" it waits everywhere.`
  return new GuestStop({ status: 'failed', error: { name: 'Error', code: 'unsupported', message } })
}
