/** `caisson run` of WebAssembly files and Python scripts: what goes in, what comes out, what is refused. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, type Ended, type Folder, makeFolder, OBEYED, type Setting } from './cli.testkit.ts'

const sample = (name: string): Uint8Array =>
  readFileSync(new URL(`../../guest/samples/built/${name}.wasm`, import.meta.url))

let folder: Folder
const cache = process.env.XDG_CACHE_HOME
beforeAll(() => {
  folder = makeFolder({
    'command.wasm': sample('command-c'),
    'component.wasm': sample('tool-c'),
    'reactor.wasm': sample('reactor-c'),
    'text.wasm': 'no module',
    'hello.py': 'import sys\nprint("hello", sys.argv[1:], input())\nsys.exit(4)',
    'loop.py': 'print("begins", flush=True)\nwhile True: pass',
    'hello.rb': [
      'at_exit { puts "at exit" }',
      'p __FILE__ == $0, ARGV, $stdin.read',
      'puts File.read("/data/in.txt")',
      'raise "no" if ARGV.empty?',
      'exit 4',
    ].join('\n'),
    'script.rb': 'require "js"\nJS.eval("1")',
  })
  for (const name of ['data', 'out']) mkdirSync(join(folder.path, name))
  writeFileSync(join(folder.path, 'data/in.txt'), 'inside')
  writeFileSync(join(folder.path, 'outside.txt'), 'outside')
  symlinkSync('../outside.txt', join(folder.path, 'data/link'))
  process.env.XDG_CACHE_HOME = join(folder.path, 'cache')
})
afterAll(() => {
  if (cache === undefined) delete process.env.XDG_CACHE_HOME
  else process.env.XDG_CACHE_HOME = cache
  folder.remove()
})

const run = (args: readonly string[], setting: Partial<Setting> = {}): Promise<Ended> =>
  cli(['run', ...args], { cwd: folder.path, anyThread: true, ...setting })

describe('a module', { timeout: 120_000 }, () => {
  it('gets what stands behind --, standard input and variables, and prints as it is', async () => {
    expect(await run(['command.wasm', '--', 'args', '--json'])).toMatchObject({
      code: 0,
      stdout: 'command.wasm\nargs\n--json\n',
    })
    expect((await run(['command.wasm', '--env', 'A=1=2', '--', 'env'])).stdout).toBe('A=1=2\n')
    expect((await run(['command.wasm', '--stdin', '@-', '--', 'upper'], { stdin: 'piped' })).stdout).toBe(
      'PIPED',
    )
    expect((await run(['command.wasm', '--', 'upper'], { stdin: 'not given' })).stdout).toBe('')
  })

  it('reaches directories that flags grant, and nothing beside them', async () => {
    const rights = ['--allow-read', 'data:/in', '--allow-write', 'out']
    const copied = await run(['command.wasm', ...rights, '--', 'copy', '/in/in.txt', '/out/copy.txt'])
    expect(copied).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder.path, 'out/copy.txt'), 'utf8')).toBe('inside')
    for (const path of ['/in/link', '/in/../outside.txt', '/outside.txt']) {
      expect(await run(['command.wasm', ...rights, '--', 'copy', path, '/out/no.txt'])).toMatchObject({
        code: 3,
      })
    }
    expect(await run(['command.wasm', ...rights, '--', 'copy', '/in/in.txt', '/in/new.txt'])).toMatchObject({
      code: 3,
    })
    const own = await run(['command.wasm', '--allow-write', '.:/own', '--', 'list', '/own'])
    expect(own).toMatchObject({ code: 2 })
  })

  it('ends with codes for its own code, limits and traps', async () => {
    const exited = await run(['command.wasm', '--json', '--', 'exit', '7'])
    expect(exited.code).toBe(3)
    expect(JSON.parse(exited.stdout)).toMatchObject({ status: 'completed', value: { exitCode: 7 } })
    expect(await run(['command.wasm', '--fuel', '1e6', '--', 'loop'])).toMatchObject({ code: 4 })
    expect(await run(['command.wasm', '--', 'abort'])).toMatchObject({ code: 3 })
  })

  it('has nothing of it obeyed by a terminal', async () => {
    const { stdout } = await run(['command.wasm', '--', 'args', '\u001b[2J'], { columns: 80 })
    expect(stdout).toContain('\\x1b[2J')
    expect(stdout).not.toMatch(OBEYED)
  })

  it('is refused where it is none, with the way on', async () => {
    expect(await run(['text.wasm'])).toMatchObject({ code: 7 })
    expect((await run(['component.wasm'])).stderr).toMatch(
      /"run" takes 1 argument, not 0[\s\S]*next: --input is the list of its arguments/,
    )
    expect((await run(['reactor.wasm'])).stderr).toMatch(/no function "_start"[\s\S]*next: If a component/)
    expect((await run(['missing.wasm'])).stderr).toMatch(/there is no such file/)
    expect((await run(['command.wasm', '--input', '1'])).stderr).toMatch(/--input means nothing for modules/)
    expect((await run(['command.wasm', '--env', 'X'])).stderr).toMatch(/NAME=VALUE/)
  })
})

describe('a Python script', { timeout: 240_000 }, () => {
  it('runs on CPython, with arguments and standard input, and its exit code', async () => {
    const ended = await run(['hello.py', '--stdin', 'typed', '--', 'a', 'b'])
    expect(ended).toMatchObject({ code: 3, stdout: "hello ['a', 'b'] typed\n" })
  })

  it('ends at its limits, after what it printed', async () => {
    const ended = await run(['loop.py', '--fuel', '2e9'])
    expect(ended).toMatchObject({ code: 4, stdout: 'begins\n' })
  })
})

describe('a script', { timeout: 240_000 }, () => {
  const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')

  it.each([
    [
      'loop.py',
      '4MiB',
      /interpreter of loop\.py \(Python\) needs 10 MiB .*--memory allows 4 MiB.*--memory 32MiB/,
    ],
    [
      'script.rb',
      '20MiB',
      /interpreter of script\.rb \(Ruby\) needs .*--memory allows 20 MiB.*--memory 128MiB/,
    ],
  ])('%s with too little memory is told what its interpreter needs', async (file, memory, words) => {
    const { code, stderr } = await run([file, '--memory', memory])
    expect([code, oneLine(stderr)]).toEqual([2, expect.stringMatching(words)])
    expect(stderr).not.toMatch(/module/)
  })

  it.each([
    ['--store', 'runs', /too large to be made suspendable.*Run it again.*node of a plan/],
    ['--checkpoint', 'a.ckpt', /too large to be made suspendable/],
    ['--allow-net', 'api.example.com', /preview 1, which has no HTTP.*--stdin or --allow-read/],
    [
      '--tools',
      'tools.mjs',
      /import nothing but WASI.*from a program in JavaScript, a module or a component/,
    ],
    ['--grant', 'prices.lookup', /import nothing but WASI/],
  ])('is refused %s with the reason, and what to do instead', async (flag, value, words) => {
    const { code, stderr } = await run(['hello.py', flag, value])
    expect([code, oneLine(stderr)]).toEqual([2, expect.stringMatching(words)])
  })
})

describe('a Ruby script', { timeout: 240_000 }, () => {
  it('runs on CRuby as `ruby FILE` does: arguments, standard input, granted files, at_exit, its exit code', async () => {
    const args = ["it's", '#{1}', '\\']
    const ended = await run(['hello.rb', '--stdin', 'typed', '--allow-read', 'data', '--', ...args])
    expect(ended).toMatchObject({
      code: 3,
      stdout: 'true\n["it\'s", "\\#{1}", "\\\\"]\n"typed"\ninside\nat exit\n',
    })
  })

  it('ends with the message of what it raised', async () => {
    const ended = await run(['hello.rb', '--allow-read', 'data', '--json'])
    expect(JSON.parse(ended.stdout)).toMatchObject({
      status: 'completed',
      value: { exitCode: 1, stderr: "/program/hello.rb:4:in '<top (required)>': no (RuntimeError)\n" },
    })
  })

  it('ends where it asks for JavaScript, which nobody grants', async () => {
    const ended = await run(['script.rb', '--json'])
    expect(JSON.parse(ended.stdout)).toMatchObject({
      status: 'failed',
      error: {
        code: 'not_granted',
        message: expect.stringMatching(/rb-js-abi-host\.eval-js.*nobody granted/),
      },
    })
  })
})
