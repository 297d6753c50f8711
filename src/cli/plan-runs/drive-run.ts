/**
 * A run of a plan, driven until it is at rest, and told while it goes: as a tree on a terminal, as lines in a pipe, or
 * as lines of JSON.
 */
import { escapeText } from '../../base/escape-text.ts'
import { RunState } from '../../graph/run/run-state.ts'
import type { PlanRun, PositionedEvent } from '../../runtime/plans/plan-run.ts'
import { viewOf } from '../../runtime/plans/run-view.ts'
import type { CliIo, CliOutput } from '../cli-io.ts'
import type { ExitCode } from '../exit-code.ts'
import { styleFor } from '../render/style.ts'
import { Interruption } from '../run/interruption.ts'
import { eventJson } from './event-json.ts'
import { eventWords } from './event-words.ts'
import { LiveScreen } from './live-screen.ts'
import type { PlanSession } from './plan-session.ts'
import { runFrame } from './run-frame.ts'
import { tellPlanEnd } from './tell-plan-end.ts'

/** How often a frame is drawn at most; durations move with it. */
const FRAME_MS = 100

/** Somebody who is told what happens. */
interface Teller {
  event(event: PositionedEvent): void
  end(): void
}

/**
 * @param begin starts, resumes or cancels it
 * @returns the exit code
 */
export async function driveRun(
  run: PlanRun,
  asked: 'go on' | 'cancel',
  begin: (signal: AbortSignal) => Promise<void>,
  session: PlanSession,
): Promise<ExitCode> {
  const { io, given } = session
  const { events: from } = await run.view()
  const interruption = new Interruption()
  const ignore = io.onInterrupt(() => interruption.interrupt())
  try {
    await begin(interruption.signal)
    const teller = tellerOf(run, given.has('json'), io)
    try {
      for await (const told of run.events({ from: teller.from ?? from, until: 'rest' })) teller.event(told)
    } finally {
      teller.end()
    }
    const outcome = await run.outcome()
    return await tellPlanEnd(run, outcome, asked, interruption.signal.aborted, session)
  } finally {
    ignore()
  }
}

function tellerOf(run: PlanRun, json: boolean, io: CliIo): Teller & { readonly from?: number } {
  if (json) return { event: (told) => io.stdout.write(`${eventJson(told)}\n`), end() {} }
  if (io.stderr.isTerminal) return liveTeller(run, io.stderr)
  return { event: (told) => io.stderr.write(`${eventLine(told)}\n`), end() {} }
}

/** `publish: started` */
function eventLine({ event }: PositionedEvent): string {
  const who = 'node' in event && event.type !== 'failing' ? escapeText(event.node) : 'run'
  return `${who}: ${eventWords(event, event.timeMs)}`
}

/** Folds what it is told into a state of its own: a frame reads nothing. */
function liveTeller(run: PlanRun, output: CliOutput): Teller & { readonly from: number } {
  const state = new RunState(run.plan)
  const screen = new LiveScreen(output)
  const style = styleFor(output)
  const plan = { plan: run.plan, digest: run.digest }
  const draw = (isDriven: boolean): void => {
    if (state.status === undefined) return
    const digests = { request: run.digest, point: run.digest }
    const view = viewOf({ run: run.run, plan, state, ...digests, isDriven })
    screen.show(runFrame(view, screen.size, Date.now(), style))
  }
  const timer = setInterval(() => draw(true), FRAME_MS)
  return {
    from: 0,
    event: ({ event }) => state.apply(event),
    end() {
      clearInterval(timer)
      draw(false)
    },
  }
}
