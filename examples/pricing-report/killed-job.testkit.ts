/** The process of the job, killed at other moments than in the story: the report is always the same one. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readProducts } from './catalogue.ts'
import type { JobEvent } from './job-events.ts'
import { startJob } from './job-run.ts'
import { type PriceService, startPriceService } from './price-service.ts'

/** Moments, by what they are called, and whether what the process tells means that one has come. */
export type Moments = Readonly<Record<string, (event: JobEvent) => boolean>>

/** Tests that a job goes on right after its process was killed at each of the moments. */
export function itSurvives(moments: Moments): void {
  const scratch = mkdtempSync(join(tmpdir(), 'caisson-job-'))
  let service: PriceService
  beforeAll(async () => {
    service = await startPriceService(await readProducts())
  })
  afterAll(async () => {
    await service.close()
    rmSync(scratch, { recursive: true, force: true })
  })

  it.each(Object.entries(moments))('%s', { timeout: 240_000 }, async (moment, isNow) => {
    const folder = join(scratch, moment.replaceAll(' ', '-'))
    const order = {
      origin: service.origin,
      outDirectory: join(folder, 'out'),
      storeDirectory: join(folder, 'store'),
    }
    const job = startJob({ ...order, act: 'begin' }, (event) => {
      if (isNow(event)) job.kill()
    })
    const first = await job.ended
    expect(first.outcome).toBeUndefined()
    expect(first.made.size).toBeGreaterThan(0)

    const second = await startJob({ ...order, act: 'go on' }, () => {}).ended
    expect([...second.made].filter((id) => first.answered.has(id))).toEqual([])
    expect(second.outcome?.outcome).toMatchObject({
      status: 'completed',
      value: { products: 500, priced: 490, dearer: 202, cheaper: 174, averageChange: 0.0059 },
    })
    const calls = new Set([...first.made, ...second.made]).size
    expect(second.outcome?.outcome.usage.calls).toBe(calls)
  })
}
