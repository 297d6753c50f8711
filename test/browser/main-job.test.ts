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
  /process 1 +pid \d+/,
  /granted +sql\.query, at most 10 calls/,
  /no answer from the database; tried once more/,
  /sql\.query .* -> 500 rows/,
  /sql\.query .* -> query_failed/,
  /net\.fetch .* -> 429, Retry-After: 1/,
  /SIGKILL +process 1 is gone, in mid-await/,
  /on the disk +the checkpoint \(\d+ KiB\); a log with 10 answers, 1 call without/,
  /process 2 +pid \d+ takes the run up/,
  /replayed +\d answers are in the checkpoint, \d come from the log/,
  /clock\.sleep +1 s -> done/,
  /artifacts\.write/,
  /calls +process 1 made 11 and has 10 answers: its end cut off 1/,
  /process 2 made 7: what was cut off once more \(1\), and 6 new ones/,
  /made twice, of the 10 that were answered: none/,
  /console\.warn +rate limited: waiting 1 s/,
  /completed +\{"products":500/,
  /used +fuel/,
  /used +calls +17 of 50/,
]

describe('npm start', () => {
  it('tells of a run that outlives its process and ends alike in a browser', {
    timeout: 240_000,
  }, async () => {
    const { code, lines } = await npmStart({ CHROMIUM_PATH: inject('chromiumPath') })
    expect(code, lines.join('\n')).toBe(0)
    const outline = [
      ...OUTLINE,
      /browser +Chromium \d+: a page gets the same checkpoint/,
      /browser +the same result, the same fuel, the same state digest/,
      /digest +sha256:[0-9a-f]{64}/,
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
