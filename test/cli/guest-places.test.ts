/** Where a WebAssembly guest of the command line finds directories, and where what it writes goes. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, type Ended, type Folder, makeFolder } from './cli.testkit.ts'

let folder: Folder
beforeAll(() => {
  folder = makeFolder({
    'command.wasm': readFileSync(new URL('../../guest/samples/built/command-c.wasm', import.meta.url)),
    'no-text': Uint8Array.of(0xff, 0xfe, 0, 0x61, 0x0d, 0x0a, 0xc3),
  })
  for (const name of ['one', 'two']) {
    mkdirSync(join(folder.path, name, 'data'), { recursive: true })
    writeFileSync(join(folder.path, name, 'data/which.txt'), name)
  }
  symlinkSync('one/data', join(folder.path, 'link'))
})
afterAll(() => folder.remove())

const run = (...args: string[]): Promise<Ended> =>
  cli(['run', 'command.wasm', ...args], { cwd: folder.path, anyThread: true })

describe('a guest of the command line', { timeout: 120_000 }, () => {
  it('finds one directory at each place: a second one that would hide it is refused', async () => {
    for (const [first, second] of [
      ['--allow-read', '--allow-read'],
      ['--allow-read', '--allow-write'],
      ['--allow-write', '--allow-read'],
    ] as const) {
      const ended = await run(first, 'one/data', second, 'two/data', '--', 'list', '/data')
      expect(ended).toMatchObject({ code: 2, stdout: '' })
      expect(ended.stderr.replaceAll(/\s+/g, ' ')).toMatch(/at \/data already.*DIR:\/other/)
    }
    const both = await run('--allow-read', 'one/data', '--allow-read', 'two/data:/two', '--', 'list', '/two')
    expect(both).toMatchObject({ code: 0 })
    const same = ['--allow-read', 'one/data', '--allow-write', 'link:/data']
    expect(await run(...same, '--', 'copy', '/data/which.txt', '/data/copy.txt')).toMatchObject({ code: 0 })
  })

  it('has its bytes written as they are, also where they are no text', async () => {
    const { code, stdoutBytes } = await run('--stdin', '@no-text', '--', 'upper')
    expect([code, stdoutBytes]).toEqual([0, Uint8Array.of(0xff, 0xfe, 0, 0x41, 0x0d, 0x0a, 0xc3)])
  })
})
