import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Outcome, Plan, PlanOutcome } from '../../src/entry/node.ts'
import { createNarrator } from './narrator.ts'
import { type Visit, visitPage } from './visit-page.ts'

const scratch = mkdtempSync(join(tmpdir(), 'caisson-visit-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const program = {
  status: 'completed',
  value: { products: 500 },
  usage: { fuel: 7 },
  stateDigest: 'sha256:aa',
} as unknown as Outcome
const output = { published: 'sha256:bb' }

async function told(visit: Visit | string): Promise<readonly [boolean, string]> {
  const lines: string[] = []
  const narrator = createNarrator(
    (line) => lines.push(line),
    () => 0,
  )
  const packed = { run: 'r', chain: [], position: 0, checkpoints: [], entries: [] }
  const remembered = { packed, program, plan: {} as Plan, output }
  return [await visitPage(visit, remembered, scratch, narrator), lines.join('\n')]
}

const ending = (end: Partial<Outcome>, plan: Partial<PlanOutcome> = {}): Visit => ({
  browser: 'Chromium 1',
  enter: async () => {},
  repeat: async () => ({ ...program, ...end }) as Outcome,
  begin: async () => ({ outcome: { status: 'waiting' } as PlanOutcome, requests: [] }),
  agree: async () => ({ status: 'completed', output, ...plan }) as PlanOutcome,
})

describe('the page of the story', () => {
  it('comes to what the processes came to', async () => {
    const [alike, text] = await told(ending({}))
    expect(alike).toBe(true)
    expect(text).toContain('the same result, the same fuel, the same state digest')
    expect(text).toContain('comes to the same report')
  })

  it.each([
    ['result', { value: { products: 499 } }],
    ['fuel', { usage: { ...program.usage, fuel: 8 } }],
    ['state digest', { stateDigest: 'sha256:bb' }],
  ])('is told to be different where its %s is', async (what, end) => {
    const [alike, text] = await told(ending(end as Partial<Outcome>))
    expect(alike).toBe(false)
    expect(text).toContain(`DIFFERENT: ${what}`)
  })

  it('is told to be different where its plan gives something else', async () => {
    const [alike, text] = await told(
      ending({}, { output: { published: 'sha256:cc' } } as Partial<PlanOutcome>),
    )
    expect(alike).toBe(false)
    expect(text).toContain('DIFFERENT: {"status":"completed"')
  })

  it('is left out, and said to be, where there is no browser', async () => {
    const [alike, text] = await told('No Chromium could be found or installed.')
    expect(alike).toBe(true)
    expect(text).toContain('left out, there is none here: No Chromium could be found')
    expect(text).toContain('CHROMIUM_PATH')
  })
})
