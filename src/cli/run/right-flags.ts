/** The flags that give a program rights, and those that say how it runs: the same for `run` and `resume`. */
import type { Flag, FlagGroup } from '../command.ts'

export const NOW: Flag = {
  name: 'now',
  value: 'ISO',
  help: 'The time in the program, for example 2026-01-01T00:00:00Z; it stands still. Deadlines still hold. Default: the clock.',
}

export const RIGHTS: FlagGroup = {
  title: 'Rights (default: none)',
  flags: [
    {
      name: 'tools',
      value: 'MODULE',
      help: 'A module whose default export is a list of capabilities. It is code that you trust: it runs outside the sandbox with all your rights. The program may call all of them, or those that --grant names.',
    },
    {
      name: 'grant',
      value: 'NAME',
      repeatable: true,
      help: 'Grants this capability of --tools, and no other that is not named too.',
    },
    {
      name: 'allow-net',
      value: 'HOST',
      repeatable: true,
      help: 'GET and HEAD requests to this host with net.fetch, of a component also with wasi:http: api.example.com, "*.example.com", example.com:8443. Private addresses only when written out with their port: localhost:8080.',
    },
    {
      name: 'allow-read',
      value: 'DIR',
      repeatable: true,
      help: 'Reading below this directory with files.*: paths are relative to it. Several directories stand side by side under their names.',
    },
    {
      name: 'allow-write',
      value: 'DIR',
      repeatable: true,
      help: 'Also writing and removing there, up to 64 MiB more. Must not overlap the program, the tools, modules that they load, or what is kept of runs.',
    },
  ],
}

/**
 * Rights of commands about plans: what may be called is what the plan says, so nothing is granted here.
 * @param tools what `--tools` says of itself
 */
export function toolFlags(title: string, tools: string): FlagGroup {
  return {
    title,
    flags: RIGHTS.flags
      .filter(({ name }) => name !== 'grant')
      .map((flag) => (flag.name === 'tools' ? { ...flag, help: tools } : flag)),
  }
}

/** Of `caisson resume`. */
export const RIGHTS_AGAIN: FlagGroup = {
  title: 'Rights (those of its start, again)',
  flags: [
    ...RIGHTS.flags,
    {
      name: 'change-rights',
      help: 'Lets --allow-read, --allow-write and --allow-net name other or more directories and hosts than when the program was started: for a directory that was moved, or a right that is meant to be wider. Without it, that is refused; the same or fewer are fine. Which capabilities there are can never change.',
    },
  ],
}

/** What becomes of what is pending at the end of a program. */
export const AT_END: Flag = {
  name: 'at-end',
  value: 'wait|drop|suspend',
  help: 'When the value is there, and calls or timers are pending. wait (default): the program goes on until none is. drop: they are dropped, and said. suspend: it is parked with them, where it is kept; exit code 6.',
}

export const HOW_IT_RUNS: FlagGroup = {
  title: 'How it runs',
  flags: [
    {
      name: 'thread',
      value: 'worker|host',
      help: 'worker (default): beside this thread, so that Ctrl-C ends it cleanly and the elapsed time is shown. host: on it, where the time moves only between turns and Ctrl-C kills the process. Values, fuel and digests are the same.',
    },
  ],
}
