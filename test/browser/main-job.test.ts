/** `npm start`, as a reader runs it, in a pipe: what it tells, that a process really dies, and where it ends. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { ROOT } from '../docs/documented-pages.ts'

const out = mkdtempSync(join(tmpdir(), 'caisson-main-job-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

async function npmStart(env: Record<string, string>): Promise<{ code: unknown; lines: readonly string[] }> {
  const { start } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts as { start: string }
  const child = spawn('/bin/sh', ['-c', `npx ${start} "${out}"`], {
    cwd: ROOT,
    env: { ...process.env, ...env },
  })
  const ended = once(child, 'close')
  const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await ended
  expect(complaint).toBe('')
  return { code, lines: output.split('\n') }
}

/** In this order, with anything in between. */
const OUTLINE = [
  /price service +http:\/\/127\.0\.0\.1:\d+, asks for a pause/,
  /proposed +by model: pricing-report 1\.0\.0, 11 nodes, sha256:/,
  /may call +reports\.publish, at most once/,
  /approved +by ada: exactly sha256:/,
  /process 1 +pid \d+/,
  /products +timeout: tried once more, as the plan allows/,
  /suppliers +query_failed: suppliers-plain stands in/,
  /prices\/\d\/ask +capability_failed: last-known stands in/,
  /price service +\/prices\?sku=.* -> 429/,
  /SIGKILL +process 1 is gone, in mid-await/,
  /stands +interrupted: \d+ nodes done/,
  /nothing in doubt/,
  /point sha256:/,
  /process 2 +pid \d+ goes on, from the point that ada saw/,
  /confirmed +by ada: exactly this point/,
  /a program goes on at its await/,
  /price service +\/prices\?sku=.* -> 200/,
  /approve +waits for a person/,
  /asked +Publish this report\?/,
  /Average change: /,
  /decided +by ada: yes, over exactly sha256:/,
  /process 3 +pid \d+ goes on/,
  /publish +done/,
  /completed +the run has ended/,
  /used +fuel/,
  /asked twice +of the \d+ answers of the price service: none/,
  /verified +\d+ events, \d+ programs executed again: the same fuel, the same digests/,
  /with one byte of entry \d+ changed: Entry \d+/,
]

describe('npm start', () => {
  it('tells of a run that outlives its process and ends alike in a browser', {
    timeout: 240_000,
  }, async () => {
    const { code, lines } = await npmStart({ CHROMIUM_PATH: inject('chromiumPath') })
    expect(code, lines.join('\n')).toBe(0)
    const outline = [
      ...OUTLINE,
      /browser +Chromium \d+: a page gets the program that slept/,
      /browser +the same result, the same fuel, the same state digest/,
      /digest +sha256:[0-9a-f]{64}/,
      /browser +a tab runs the same plan, on IndexedDB/,
      /it waits \(Publish this report\?\), and the tab is closed/,
      /browser +another tab goes on, and comes to the same report/,
      /report +\S+pricing-report\.html/,
    ]
    let at = 0
    for (const expected of outline) {
      const found = lines.findIndex((line, index) => index >= at && expected.test(line))
      expect(found, `${expected} after line ${at} of\n${lines.join('\n')}`).toBeGreaterThanOrEqual(at)
      at = found + 1
    }
    const report = /report +(\S+pricing-report\.html)/.exec(lines[at - 1] ?? '')?.[1] ?? ''
    expect(existsSync(report)).toBe(true)
    // The path of the report is as long as it is.
    expect(lines.filter((line) => line.length > 120 && !line.includes(report))).toEqual([])
  })
})
