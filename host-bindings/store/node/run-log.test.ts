import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RunLog } from './run-log.node.ts'
import type { SegmentRecord } from './run-state.node.ts'
import type { StoreFolder } from './store-folder.ts'
import { openFolder } from './store-root.node.ts'

const text = (value: string): Uint8Array => new TextEncoder().encode(value)
const read = (entries: readonly Uint8Array[]): string[] =>
  entries.map((entry) => new TextDecoder().decode(entry))
const sealed = (log: readonly SegmentRecord[]): SegmentRecord[] => log.map((one) => ({ ...one, open: false }))

describe('the log of a run', () => {
  let path = ''
  let folder: StoreFolder
  let log: RunLog
  beforeEach(async () => {
    path = mkdtempSync(join(tmpdir(), 'caisson-log-'))
    folder = await openFolder(path)
    log = new RunLog(folder)
  })
  afterEach(async () => {
    await log.close()
    await folder.close()
    rmSync(path, { recursive: true, force: true })
  })

  /** A segment with entries 0 to `count - 1`, one batch each. */
  async function grow(count: number): Promise<SegmentRecord> {
    let [segment] = await log.start([], [text('entry 0')])
    for (let n = 1; n < count && segment; n++) segment = await log.append(segment, [text(`entry ${n}`)])
    return segment as SegmentRecord
  }
  const fileOf = (segment: SegmentRecord): string => join(path, `log-${segment.id}`)

  it('2: takes small segments into the next one, and leaves large ones beside it', async () => {
    const first = await grow(3)
    const small = await log.start(sealed([first]), [text('next')])
    expect(small).toMatchObject([{ first: 0, entries: 4 }])
    const large = await log.append(small[0] as SegmentRecord, [new Uint8Array(300_000)])
    const after = await log.start(sealed([large]), [text('last')])
    expect(after).toMatchObject([
      { first: 0, entries: 5 },
      { first: 5, entries: 1, open: true },
    ])
    await log.drop([first])
    expect(readdirSync(path)).toHaveLength(2)
    expect(read(await log.read(after, 3, 9)).map((entry) => entry.length)).toEqual([4, 300_000, 4])
  })

  it('gives every window of every log, whatever was read before', async () => {
    let records: readonly SegmentRecord[] = []
    const all: string[] = []
    for (let holder = 0; holder < 4; holder++) {
      for (let n = 0; n < 3; n++) {
        const batch = [`${holder} ${n} a`, `${holder} ${n} b`]
        all.push(...batch)
        const last = records.at(-1)
        records =
          n > 0 && last
            ? [...records.slice(0, -1), await log.append(last, batch.map(text))]
            : await log.start(sealed(records), batch.map(text))
      }
      const filler = 'x'.repeat(270_000)
      all.push(filler)
      records = [...records.slice(0, -1), await log.append(records.at(-1) as SegmentRecord, [text(filler)])]
    }
    expect(records.length).toBe(4)
    const window = fc.nat({ max: 30 })
    await fc.assert(
      fc.asyncProperty(window, window, fc.boolean(), async (from, most, live) => {
        const found = read(await log.read(live ? records : sealed(records), from, most))
        expect(found.map((entry) => entry.slice(0, 9))).toEqual(
          all.slice(from, from + most).map((entry) => entry.slice(0, 9)),
        )
      }),
      { numRuns: 60 },
    )
  })

  it('4: cuts what is torn at the end, wherever it is torn', async () => {
    const segment = await grow(5)
    const acknowledged = { ...segment, entries: 4 }
    const whole = readFileSync(fileOf(segment))
    expect(whole.length).toBe(segment.bytes)
    const lastBatch = 20 + 4 + 'entry 4'.length + 16
    for (let cut = 1; cut <= lastBatch; cut++) {
      writeFileSync(fileOf(segment), whole)
      truncateSync(fileOf(segment), whole.length - cut)
      const again = new RunLog(folder)
      expect(read(await again.tail({ ...acknowledged, entries: 2 }))).toEqual(['entry 2', 'entry 3'])
      expect(read(await again.read([segment], 0, 4))).toHaveLength(4)
    }
    // A block of zeros, or of anything, where the last batch should be.
    for (const filler of [0, 0x43, 0xff]) {
      writeFileSync(fileOf(segment), whole.fill(filler, whole.length - lastBatch))
      expect(await new RunLog(folder).tail(acknowledged)).toEqual([])
    }
  })

  it('5: finds what was written since, acknowledged or not, when it is whole', async () => {
    const segment = await grow(5)
    const found = await log.tail({ ...segment, entries: 2 })
    expect(read(found)).toEqual(['entry 2', 'entry 3', 'entry 4'])
  })

  it('4: refuses any flipped bit before the end', async () => {
    const segment = await grow(4)
    const whole = readFileSync(fileOf(segment))
    const lastBatch = 20 + 4 + 'entry 3'.length + 16
    const damaged = { code: 'corrupted' }
    for (let at = 0; at < whole.length; at++) {
      const changed = Uint8Array.from(whole)
      changed[at] = (whole[at] as number) ^ (1 << (at % 8))
      writeFileSync(fileOf(segment), changed)
      const again = new RunLog(folder)
      await expect(again.read(sealed([segment]), 0, 9)).rejects.toMatchObject(damaged)
      // Open, with fewer acknowledged: only the last batch may be taken for one that was never finished.
      if (at < whole.length - lastBatch) {
        await expect(again.tail({ ...segment, entries: 1 })).rejects.toMatchObject(damaged)
      }
    }
  })

  it('4: refuses a log that ends before what was acknowledged', async () => {
    const segment = await grow(4)
    truncateSync(fileOf(segment), segment.bytes - 1)
    const damaged = { code: 'corrupted' }
    await expect(new RunLog(folder).tail(segment)).rejects.toMatchObject(damaged)
    await expect(new RunLog(folder).read(sealed([segment]), 0, 9)).rejects.toMatchObject(damaged)
    await expect(new RunLog(folder).read([segment], 0, 9)).rejects.toMatchObject(damaged)
  })

  it('takes no entry for a batch, whatever a guest wrote into it', async () => {
    const forged = readFileSync(fileOf(await grow(2)))
    const [segment] = await log.start([], [text('first')])
    const grown = await log.append(segment as SegmentRecord, [forged, forged])
    // Torn in the middle of the entry, which holds whole batches of another file.
    truncateSync(fileOf(grown), grown.bytes - 60)
    expect(await new RunLog(folder).tail(segment as SegmentRecord)).toEqual([])
  })
})
