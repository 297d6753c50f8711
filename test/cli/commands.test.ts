/** Help, version, doctor, bench, and what is no command. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/entry/node.ts'
import { cli, type Ended } from './cli.testkit.ts'

const cwd = import.meta.dirname
const caisson = (args: readonly string[], columns?: number): Promise<Ended> =>
  cli(args, { cwd, ...(columns !== undefined && { columns }) })

describe('help', () => {
  it.each([40, 50, 60, 100])(
    'fits terminals of %d columns, but for command lines to copy',
    async (columns) => {
      const plans = ['plan', 'plan check', 'plan show', 'plan diff', 'plan schema']
      const commands = ['run', 'resume', 'runs', 'show', 'doctor', ...plans]
      const helps = commands.map((name) => ['help', ...name.split(' ')])
      for (const args of [['--help'], ['bench', '-h'], ...helps]) {
        const { code, stdout } = await caisson(args, columns)
        expect(code).toBe(0)
        const long = stdout
          .split('\n')
          .filter((line) => line.length > columns && !/^ {2}(echo|caisson) /.test(line))
        expect(long).toEqual([])
      }
    },
  )

  it('shows every flag with what it does, the defaults of the library, and the exit codes', async () => {
    const { stdout } = await caisson(['run', '--help'])
    for (const flag of [
      'input',
      'tools',
      'grant',
      'allow-net',
      'allow-read',
      'allow-write',
      'fuel',
      'memory',
      'timeout',
      'idle',
      'stack',
      'calls',
      'timers',
      'at-end',
      'seed',
      'now',
      'thread',
      'store',
      'run',
      'stop-at-call',
      'checkpoint',
      'key-file',
      'secret',
      'json',
    ]) {
      expect(stdout).toContain(`--${flag}`)
    }
    const fuel = DEFAULT_LIMITS.fuel.toLocaleString('en').replaceAll(',', '_')
    expect(stdout.replace(/\s+/g, ' ')).toContain(`Default ${fuel}.`)
    expect(stdout).toContain(`Default ${DEFAULT_LIMITS.memoryBytes / 1024 / 1024}MiB`)
    expect(stdout).toMatch(/^ +7 +corrupted or refused input/m)
  })

  it('lists every command once, under what it is about', async () => {
    const { stdout } = await caisson(['--help'], 200)
    const [, others = ''] = stdout.split('Commands for this installation\n')
    const named = others.split('\n\n')[0]?.match(/^ {2}\S+/gm)
    // A command that no section names stands here: give it one.
    expect(named).toEqual(['  doctor', '  bench'])
    const { stderr } = await caisson(['nothing-like-it'], 2000)
    const all = /commands: ([^)]*)\)/.exec(stderr.replace(/\s+/g, ' '))?.[1]?.split(', ') ?? []
    expect(all.length).toBeGreaterThan(25)
    for (const name of all) expect(stdout.split(`\n  ${name}  `), name).toHaveLength(2)
  })

  it('comes first even when the other arguments are missing', async () => {
    expect((await caisson(['run', '--help'])).code).toBe(0)
    const nothing = await caisson([])
    expect(nothing).toMatchObject({ code: 2, stdout: '' })
    expect(nothing.stderr).toContain('Commands')
  })
})

describe('commands', () => {
  it('tell the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(cwd, '../../package.json'), 'utf8')) as {
      version: string
    }
    expect(await caisson(['--version'])).toMatchObject({ code: 0, stdout: `caisson ${version}\n` })
  })

  it.each([
    [['runn'], /Did you mean run or runs\?/],
    [['plann'], /Did you mean plan/],
    [['p.js'], /caisson run p\.js/],
    [['--json'], /The command comes first/],
    [['help', 'nothing'], /no command "nothing"/],
    [['__proto__'], /no command/],
  ])('%j is refused with what was meant', async (args, message) => {
    const { code, stdout, stderr } = await caisson(args)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(args.includes('--json') ? JSON.parse(stdout) : { status: 'refused' }).toMatchObject({
      status: 'refused',
    })
  })
})

describe('doctor', () => {
  it('says what this runtime supports, with a fix for every warning', async () => {
    const { code, json, stderr } = await caisson(['doctor', '--json'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const report = json() as unknown as {
      status: string
      engine: { id: string; profile: string }
      checks: { name: string; status: string; detail: string; fix?: string }[]
    }
    expect(report.status).not.toBe('fail')
    expect(report.engine).toMatchObject({ id: expect.stringMatching(/^quickjs-/), profile: 'v8' })
    for (const { name, status, detail, fix } of report.checks) {
      expect(detail, name).not.toBe('')
      expect(fix !== undefined, name).toBe(status !== 'ok')
    }
    const names = report.checks.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['runtime', 'WebAssembly', 'JSPI', 'engine files', 'self test', 'Worker']),
    )
  })

  it('reads well in 50 columns', async () => {
    const { stdout } = await caisson(['doctor'], 50)
    expect(stdout.split('\n').filter((line) => line.length > 50)).toEqual([])
    expect(stdout).toMatch(/^ok {4}runtime: Node/m)
  })
})

describe('bench', () => {
  it('refuses flags that the benches do not have', async () => {
    expect(await caisson(['bench', '--fast'])).toMatchObject({ code: 2, stdout: '' })
  })
})
