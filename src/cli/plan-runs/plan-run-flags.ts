/** The flags of commands about runs of plans. */
import type { Flag, FlagGroup } from '../command.ts'
import { KEY_FILE } from '../kept/keeping-flags.ts'
import { RIGHTS } from '../run/right-flags.ts'
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

export const WHO: FlagGroup = { title: 'Who', flags: [BY] }

/** What there is to call. What may be called is what the plan says. */
export const PLAN_TOOLS: FlagGroup = {
  title: 'What there is to call (what may be called is what the plan says)',
  flags: RIGHTS.flags
    .filter(({ name }) => name !== 'grant')
    .map((flag) =>
      flag.name === 'tools'
        ? {
            ...flag,
            help: 'A module whose default export is a list of capabilities. It is code that you trust: it runs outside the sandbox with all your rights.',
          }
        : flag,
    ),
}

export const REQUESTS: Flag = {
  name: 'request',
  value: 'DIGEST|all',
  repeatable: true,
  help: 'A request of a node, by the digest of exactly what it shows (caisson show RUN). "all": every open one; alone it shows them with one digest for all, with that as --digest it decides.',
}
