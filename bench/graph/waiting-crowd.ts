/** 10,000 runs that wait for a person, in a process of their own. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Trial } from '../harness/trial.ts'

export interface WaitingMessage {
  /** By all runs together. */
  readonly grownBytes: number
}

const ROOT: string = fileURLToPath(new URL('../..', import.meta.url))
const SCRIPT: string = fileURLToPath(new URL('./waiting-crowd-process.ts', import.meta.url))

/** By how much resident memory grew. One figure, without a spread. @throws Error when the process ends without one */
export async function waitingCrowdTrial(): Promise<Trial> {
  // Inherits what this process was started with: how types are erased, and the collector.
  const child = fork(SCRIPT, { cwd: ROOT })
  const exited = once(child, 'exit')
  const message = await Promise.race([
    once(child, 'message').then(([told]) => told as WaitingMessage),
    exited.then(([code]) => {
      throw new Error(`the process of waiting runs ended with ${String(code)}`)
    }),
  ])
  return { operations: 1, run: () => message.grownBytes }
}
