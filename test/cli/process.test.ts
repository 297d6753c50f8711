/** The built command as people start it: limits, signals, pipes. Built before the tests run. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, type Ended, type Folder, makeFolder, start, toolsModule } from './cli.testkit.ts'

const ROOT = join(import.meta.dirname, '../..')
const MAIN = join(ROOT, 'dist/src/cli/main.js')

let folder: Folder
beforeAll(() => {
  const tools = toolsModule('build')
  folder = makeFolder({
    'p.js': 'return 6*7\n',
    'loop.js': 'while(1);',
    'recurse.js': 'const down = (n) => down(n + 1) + 1; return down(0)',
    'large.js': 'return "x".repeat(3e6)',
    'never.js': 'return await prices.never()',
    'tools.mjs': tools,
    'lost.mjs': "import { capability } from 'caisson'\nexport default [capability]",
    'package.json': '{ "type": "commonjs" }',
    'common.js': tools,
    'timers.mjs': `${tools}\nsetInterval(() => {}, 1000)`,
    'stray.mjs': `${tools}\nsetTimeout(() => { throw new Error('stray') }, 500)`,
  })
})
afterAll(() => folder.remove())

const run = (...args: string[]): Promise<Ended> => start(['run', ...args], folder.path).end
const NEVER = ['never.js', '--tools', 'tools.mjs', '--grant', 'prices.never']

describe('hostile programs', () => {
  it('that recurse end with 4 and the limit that they reached', async () => {
    const { code, stderr, json } = await run('recurse.js', '--json')
    expect({ code, limit: json().limit }).toEqual({ code: 4, limit: 'stack' })
    expect(stderr.replace(/\n {9}/g, ' ')).toMatch(/^stopped: The guest .*\d.* \(limit stackBytes\)\.$/m)
  })

  it('that loop on the thread of the command end at --timeout', async () => {
    const { code, json } = await run('loop.js', '--timeout', '100ms', '--thread', 'host', '--json')
    expect({ code, limit: json().limit }).toEqual({ code: 4, limit: 'wall' })
  })
})

describe('the built command', () => {
  it('takes a program from a pipe, and has the same fuel and the same final state as the sources', async () => {
    const args = ['run', '-', '--json']
    const stdin = 'return 6*7'
    const built = await start(args, folder.path, stdin).end
    const sources = await cli(args, { cwd: folder.path, stdin })
    expect(built.json()).toMatchObject({
      status: 'completed',
      value: 42,
      usage: { fuel: expect.any(Number) },
    })
    expect(built.json().usage.fuel).toBe(sources.json().usage.fuel)
    expect(built.json().stateDigest).toBe(sources.json().stateDigest)
  })
})

describe('signals and pipes', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s stops a waiting program with a message and 130',
    async (signal) => {
      const started = start(['run', ...NEVER, '--json'], folder.path)
      await started.said('asked')
      started.signal(signal)
      const { code, stderr, json } = await started.end
      expect(code).toBe(130)
      expect(stderr).toContain('interrupted: the program was stopped')
      expect(json()).toMatchObject({ status: 'failed', error: { code: 'aborted' } })
    },
  )

  it('tools that keep timers do not keep the command', async () => {
    expect(await run('p.js', '--tools', 'timers.mjs')).toMatchObject({ code: 0, stdout: '42\n' })
  })

  it('tools that throw outside of any call end the command, without a stack trace', async () => {
    const { code, stderr } = await run('never.js', '--tools', 'stray.mjs', '--grant', 'prices.never')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: .*Error: stray/m)
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  it('tools that Node reads as CommonJS are told how to be a module', async () => {
    const { code, stderr } = await run('p.js', '--tools', 'common.js')
    expect(code).toBe(7)
    expect(stderr.replace(/\s+/g, ' ')).toContain('next: Node reads it as CommonJS: name it .mjs')
  })

  it('tools that do not find this package are told where to install it', async () => {
    const { code, stderr } = await run('p.js', '--tools', 'lost.mjs')
    expect(code).toBe(7)
    const said = stderr.replace(/\s+/g, ' ')
    expect(said).toContain("Cannot find package 'caisson'")
    expect(said).toContain(
      'next: Install caisson in the folder of the tools, from the file that npm pack makes',
    )
  })

  it('a reader that goes away is no failure, and no stack trace', async () => {
    const { stdout, stderr } = await shell(`node "${MAIN}" run large.js | head -c 5`)
    expect(stdout).toBe('xxxxx')
    expect(stderr).toBe('')
  })

  it.runIf(existsSync('/dev/full'))('output that cannot be written is a failure', async () => {
    const { code, stderr } = await shell(`node "${MAIN}" run p.js > /dev/full`)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^caisson: the output could not be written/)
  })

  it('COLUMNS is the width of what is no terminal', async () => {
    const widest = async (env: Readonly<Record<string, string>>): Promise<number> => {
      const { stdout } = await start(['run', '--help'], folder.path, '', env).end
      return Math.max(...stdout.split('\n').map((line) => line.length))
    }
    const [narrow, wide, nonsense] = await Promise.all([
      widest({ COLUMNS: '60' }),
      widest({ COLUMNS: '100' }),
      widest({ COLUMNS: 'many' }),
    ])
    expect(narrow).toBeLessThan(nonsense)
    expect(nonsense).toBeLessThan(wide)
  })

  it('a large document arrives whole', async () => {
    const { json } = await run('large.js', '--json')
    expect((json().value as string).length).toBe(3e6)
  })
})

describe('npx', () => {
  it('runs the command from the root of the repository', async () => {
    const { stdout } = await shell(`npx caisson run "${join(folder.path, 'p.js')}" --json`, ROOT)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', value: 42 })
  })
})

function shell(line: string, cwd = folder.path): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile('sh', ['-c', line], { cwd }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
    })
  })
}
