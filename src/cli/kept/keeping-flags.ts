/** The flags with which a run is kept, so that it can be gone on with. */
import type { Flag, FlagGroup } from '../command.ts'

const STORE: Flag = {
  name: 'store',
  value: 'DIR',
  help: 'Keeps the run in this folder while it goes: its log, and checkpoints. Whatever happens to this process, caisson resume RUN goes on with it. The folder is made where it is missing; any number of runs and processes share it. Also sqlite:FILE, with better-sqlite3 installed, and postgres://USER@HOST/DB?schema=S, with pg.',
}

export const STOP_AT_CALL: Flag = {
  name: 'stop-at-call',
  value: 'N',
  help: 'Parks the program when its N-th call has been asked for, and before it is made. Exit code 6. Calls of sync capabilities count, and are made: then it is parked at the next other one.',
}

export const KEY_FILE: Flag = {
  name: 'key-file',
  value: 'FILE',
  help: 'Keys that what is kept is authenticated and encrypted with: {"mac": {"id": "m1", "key": "64 hex digits"}, "encryption": {"id": "e1", "key": "64 hex digits"}}; either may be left out, "older": [{"id", "key"}] beside "id" may still be read with. Only you may be able to read the file (chmod 600).',
}

/** Of commands that take a FILE or a RUN. */
export const WHERE_KEPT: FlagGroup = {
  title: 'Where it is kept',
  flags: [
    {
      name: 'store',
      value: 'DIR',
      help: 'The folder that has RUN, or sqlite:FILE, or postgres://…. Without it, FILE is a checkpoint file.',
    },
    KEY_FILE,
  ],
}

/** Of `caisson run`. */
export const KEEPING: FlagGroup = {
  title: 'Keeping the run (default: no)',
  flags: [
    STORE,
    {
      name: 'run',
      value: 'NAME',
      help: 'Its name in the store: letters, digits and . _ -, at most 128. Default: the name of FILE and six characters.',
    },
    STOP_AT_CALL,
    {
      name: 'checkpoint',
      value: 'FILE',
      help: 'With --stop-at-call, in place of --store: writes the parked program to this one file, whole or not at all, and beside it FILE.ledger, which knows what was called and answered. Keep both together. What exists is never overwritten.',
    },
    KEY_FILE,
    {
      name: 'secret',
      help: 'The program may see secrets: nothing of it is kept unless it is encrypted (--key-file).',
    },
  ],
}
