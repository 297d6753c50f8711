/** The parent's side of the process that drives the run. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { JobEvent, JobOrder } from './job-events.ts'

/** How the process and the run came to their ends. */
export interface JobEnd {
  /** Undefined for a process that was killed before its run ended. */
  readonly outcome: Extract<JobEvent, { type: 'outcome' }> | undefined
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
  let outcome: JobEnd['outcome']
  let killed = false
  child.on('message', (message) => {
    const event = message as JobEvent
    if (event.type === 'outcome') outcome = event
    hear(event)
  })
  // `close`, and not `exit`: what it told before it died still arrives.
  const ended = once(child, 'close').then(([code, signal]): JobEnd => {
    if (!killed && (code !== 0 || outcome === undefined)) {
      throw new Error(`The process of the job ended by itself (${signal ?? `code ${code}`}).`)
    }
    return { outcome }
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
