/** 10,000 parked guests of one program, in a process of their own: its memory is theirs, and nobody else's work counts. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Trial } from '../harness/trial.ts'

export interface CrowdRequest {
  /** How many guests are woken, take a step and are parked again. */
  readonly wakes: number
}

export type CrowdMessage = { readonly grownBytes: number } | { readonly cpuNsPerWake: number }

interface Crowd {
  readonly child: ChildProcess
  readonly grownBytes: number
}

/** Wakes of one figure. */
const WAKES = 200

const ROOT: string = fileURLToPath(new URL('../..', import.meta.url))
const SCRIPT: string = fileURLToPath(new URL('./parked-crowd-process.ts', import.meta.url))

/** Both cases ask the same process. */
let crowd: Promise<Crowd> | undefined

async function startCrowd(): Promise<Crowd> {
  // Inherits what this process was started with: how types are erased, and the collector.
  const child = fork(SCRIPT, { cwd: ROOT })
  const message = await answerOf(child)
  if (!('grownBytes' in message)) throw new Error('the process of parked guests did not tell its size')
  return { child, grownBytes: message.grownBytes }
}

function openCrowd(): Promise<Crowd> {
  crowd ??= startCrowd()
  return crowd
}

/** @throws Error when the process ends instead */
async function answerOf(child: ChildProcess): Promise<CrowdMessage> {
  const answered = new AbortController()
  const { signal } = answered
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`the process of parked guests ended with ${String(code)}`)
  })
  // Who is answered hears no more of it.
  ended.catch(() => {})
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), ended])
    return message as CrowdMessage
  } finally {
    answered.abort()
  }
}

/** By how much resident memory grew, all guests parked but those that hold an instance. One figure, without a spread. */
export async function crowdMemoryTrial(): Promise<Trial> {
  const { grownBytes } = await openCrowd()
  return { operations: 1, run: () => grownBytes }
}

/** CPU time of waking a guest when all others have had their turn: settle, step, park another one. */
export async function crowdWakeTrial(): Promise<Trial> {
  const { child } = await openCrowd()
  return {
    operations: 1,
    run: async () => {
      child.send({ wakes: WAKES } satisfies CrowdRequest)
      const message = await answerOf(child)
      if (!('cpuNsPerWake' in message)) throw new Error('the process of parked guests did not tell its time')
      return message.cpuNsPerWake
    },
  }
}
