/** The parent's side of the process that runs the program. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { CallIntent } from '../../src/entry/node.ts'
import type { JobEvent, JobOrder } from './job-events.ts'

/** How the process and the run came to their ends. */
export interface JobEnd {
  /** Undefined for a process that was killed before its run ended. */
  readonly outcome: Extract<JobEvent, { type: 'outcome' }> | undefined
  /** Ids of the calls that it made, those included that a process before it had made and not seen answered. */
  readonly made: ReadonlySet<number>
  readonly answered: ReadonlySet<number>
  /** Calls that it made and that were not answered. */
  readonly open: readonly CallIntent[]
}

export interface JobRun {
  readonly pid: number | undefined
  /** SIGKILL: no handler, no cleaning up. */
  kill(): void
  /** @throws Error when the process ended by itself without an outcome */
  readonly ended: Promise<JobEnd>
}

/** Starts the process. @param hear hears what it tells, in order */
export function startJob(order: JobOrder, hear: (event: JobEvent) => void): JobRun {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  const child = fork(fileURLToPath(new URL('./job-process.ts', import.meta.url)), [JSON.stringify(order)], {
    execArgv: ['--import', tsx],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const intents = new Map<number, CallIntent>()
  const answered = new Set<number>()
  let outcome: JobEnd['outcome']
  let killed = false
  child.on('message', (message) => {
    const event = message as JobEvent
    if (event.type === 'intent') intents.set(event.record.id, event.record)
    if (event.type === 'result') answered.add(event.record.id)
    if (event.type === 'outcome') outcome = event
    hear(event)
  })
  // `close`, and not `exit`: what it told before it died still arrives.
  const ended = once(child, 'close').then(([code, signal]): JobEnd => {
    if (!killed && (code !== 0 || outcome === undefined)) {
      throw new Error(`The process of the job ended by itself (${signal ?? `code ${code}`}).`)
    }
    const open = [...intents.values()].filter(({ id }) => !answered.has(id))
    return { outcome, made: new Set([...intents.keys(), ...answered]), answered, open }
  })
  return {
    pid: child.pid,
    kill: () => {
      killed = true
      child.kill('SIGKILL')
    },
    ended,
  }
}
