/** The flags of commands about runs of plans. */
import type { Flag, FlagGroup } from '../command.ts'
import { KEY_FILE } from '../kept/keeping-flags.ts'
import { SIGN_KEY } from '../kept/sign-key.ts'
import { toolFlags } from '../run/right-flags.ts'
import { BY } from './who.ts'

export const PLAN_STORE: FlagGroup = {
  title: 'Where it is kept',
  flags: [
    {
      name: 'store',
      value: 'DIR',
      help: 'The folder that has the run, or sqlite:FILE, or postgres://….',
    },
    KEY_FILE,
  ],
}

/** Of commands that write something of a run. */
export const SIGNED_STORE: FlagGroup = { ...PLAN_STORE, flags: [...PLAN_STORE.flags, SIGN_KEY] }

export const WHO: FlagGroup = { title: 'Who', flags: [BY] }

export const PLAN_TOOLS: FlagGroup = toolFlags(
  'What there is to call (what may be called is what the plan says)',
  'A module whose default export is a list of capabilities. It is code that you trust: it runs outside the sandbox with all your rights.',
)

export const REQUESTS: Flag = {
  name: 'request',
  value: 'DIGEST|all',
  repeatable: true,
  help: 'A request of a node, by the digest of exactly what it shows (caisson show RUN). "all": every open one; alone it shows them with one digest for all, with that as --digest it decides.',
}
