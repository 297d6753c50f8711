/** A component in the middle of a call, whose process is killed: it goes on in another one as if nothing had been. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

/** Strips types and nothing else: what is loaded by a Worker is 14 MB. */
const LOADER = join(import.meta.dirname, '../../bench/strip-types.mjs')
const folder = mkdtempSync(join(tmpdir(), 'caisson-component-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Said {
  readonly status: string
  readonly value: unknown
  readonly fuel: number
  readonly digest: string
}

function start(...words: string[]): {
  child: ChildProcess
  ended: Promise<{ signal: string | null; said: string }>
} {
  const program = join(import.meta.dirname, 'component-child.ts')
  const child = spawn(process.execPath, ['--import', LOADER, program, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const ended = new Promise<{ signal: string | null; said: string }>((resolve) => {
    child.on('close', (_code, signal) => resolve({ signal, said: said === '' ? errors : said }))
  })
  return { child, ended }
}

async function say(...words: string[]): Promise<Said> {
  const { said } = await start(...words).ended
  return JSON.parse(said) as Said
}

describe('a component that is killed in the middle of a call', () => {
  it.each(['tool-c', 'tool-as'])(
    '%s finishes in another process with the same digest',
    async (sample) => {
      const file = join(folder, sample)
      const { child, ended } = start('until-killed', sample, file)
      while (!existsSync(file)) {
        expect(child.exitCode, 'the child ended by itself').toBeNull()
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      child.kill('SIGKILL')
      expect((await ended).signal).toBe('SIGKILL')
      const went = await say('go-on', sample, file)
      const whole = await say('whole', sample, file)
      expect(went).toMatchObject({
        status: 'completed',
        value: { tag: 'ok', val: expect.stringContaining('"c"') },
      })
      expect(went).toEqual(whole)
    },
    600_000,
  )
})
