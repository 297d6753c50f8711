/** The last chapter of the story: a page does again what the processes did. */
import { isDeepStrictEqual } from 'node:util'
import type { Outcome } from '../../src/entry/node.ts'
import { type Narrator, oneLine } from './narrator.ts'
import type { PackedRun } from './packed-run.ts'
import type { PageVisit } from './page-visit.ts'

/**
 * Lets a page repeat the run from a checkpoint, and tells whether it ended as the process did.
 * @param visit a browser, or why there is none
 * @returns false where it ended differently
 */
export async function repeatInPage(
  visit: Pick<PageVisit, 'browser' | 'repeat'> | string,
  packed: PackedRun,
  outcome: Outcome,
  { say, plain }: Narrator,
): Promise<boolean> {
  plain()
  if (typeof visit === 'string') {
    say('browser', `left out, there is none here: ${oneLine(visit, 70)}`)
    say('', '.. install Chromium or Chrome, or set CHROMIUM_PATH, to see the run go on in a page')
    return true
  }
  const kibibytes = ((JSON.stringify(packed).length * 3) / 4 / 1024).toFixed(0) // it is base64
  say('browser', `${visit.browser}: a page gets the same checkpoint and the log (${kibibytes} KiB)`)
  const there = await visit.repeat(packed)
  const value = (of: Outcome): unknown => (of.status === 'completed' ? of.value : of.status)
  const same = [
    ['result', isDeepStrictEqual(value(there), value(outcome))],
    ['fuel', there.usage.fuel === outcome.usage.fuel],
    ['state digest', there.stateDigest !== undefined && there.stateDigest === outcome.stateDigest],
  ] as const
  say('', '.. from that await to the end: recorded answers, at their times, in their order; no call')
  const differs = same.filter(([, equal]) => !equal).map(([name]) => name)
  if (differs.length > 0) {
    say('browser', `DIFFERENT: ${differs.join(', ')}`)
    return false
  }
  say('browser', 'the same result, the same fuel, the same state digest')
  say('digest', oneLine(there.stateDigest ?? '', 80))
  return true
}
