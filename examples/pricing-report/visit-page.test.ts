import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/entry/node.ts'
import { createNarrator } from './narrator.ts'
import type { PageVisit } from './page-visit.ts'
import { repeatInPage } from './repeat-in-page.ts'

const outcome = {
  status: 'completed',
  value: { products: 500 },
  usage: { fuel: 7 },
  stateDigest: 'sha256:aa',
} as unknown as Outcome

async function told(visit: Parameters<typeof repeatInPage>[0]): Promise<readonly [boolean, string]> {
  const lines: string[] = []
  const narrator = createNarrator(
    (line) => lines.push(line),
    () => 0,
  )
  const packed = { run: 'r', chain: [], position: 0, checkpoints: [], entries: [] }
  return [await repeatInPage(visit, packed, outcome, narrator), lines.join('\n')]
}

const ending = (end: Partial<Outcome>): Pick<PageVisit, 'browser' | 'repeat'> => ({
  browser: 'Chromium 1',
  repeat: async () => ({ ...outcome, ...end }) as Outcome,
})

describe('the page of the story', () => {
  it('ends as the process did', async () => {
    const [alike, text] = await told(ending({}))
    expect(alike).toBe(true)
    expect(text).toContain('the same result, the same fuel, the same state digest')
  })

  it.each([
    ['result', { value: { products: 499 } }],
    ['fuel', { usage: { ...outcome.usage, fuel: 8 } }],
    ['state digest', { stateDigest: 'sha256:bb' }],
  ])('is told to be different where its %s is', async (what, end) => {
    const [alike, text] = await told(ending(end as Partial<Outcome>))
    expect(alike).toBe(false)
    expect(text).toContain(`DIFFERENT: ${what}`)
  })

  it('is left out, and said to be, where there is no browser', async () => {
    const [alike, text] = await told('No Chromium could be found or installed.')
    expect(alike).toBe(true)
    expect(text).toContain('left out, there is none here: No Chromium could be found')
    expect(text).toContain('CHROMIUM_PATH')
  })
})
