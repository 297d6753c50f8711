/**
 * Every `ts` and `sh` block of README.md and docs/ runs, and prints what its comments say.
 *
 * In `sh` blocks `# prints X` is the output of a line and `# exit N` its exit code; other comments are for people.
 * A block that cannot run here says `no-run` and why. Lines that are nothing but the command run in this process, as
 * starting one takes a hundred times as long; test/cli/process.test.ts starts it as people do.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli } from '../cli/cli.testkit.ts'
import { DOCUMENTED_PAGES, ROOT, SNIPPETS } from './documented-pages.ts'
import { comparable, expectedOutput } from './expected-output.ts'
import { type Ran, runShell, runTypeScript } from './run-snippet.ts'
import { typeErrors } from './type-check.ts'

const isCode = (language: string): boolean => language === 'ts' || language === 'sh'
const code = SNIPPETS.filter(({ language }) => isCode(language))
const notRun = code.filter(({ note }) => note.startsWith('no-run'))
const typescript = code.filter(({ language, note }) => language === 'ts' && note === '')
const shell = code.filter(({ language, note }) => language === 'sh' && note === '')
/** Run by edge-snippets.test.ts, tools-snippet.test.ts, by test/browser/documented-pages.test.ts, and by store-snippets where there is a database. */
const elsewhere = [
  'ts browser=vite',
  'ts browser=esbuild',
  'sh esbuild',
  'ts edge',
  'ts sqlite',
  'ts tools',
  'ts postgres',
]

describe('the snippets of the documented pages', () => {
  it('are found', () => {
    expect(DOCUMENTED_PAGES).toContain('docs/embedding.md')
    expect(typescript.length).toBeGreaterThan(15)
    expect(shell.length).toBeGreaterThan(0)
  })

  it('all run somewhere, but for the few that say why not', () => {
    const others = code.filter((snippet) => ![...typescript, ...shell, ...notRun].includes(snippet))
    expect(others.map(({ language, note }) => `${language} ${note}`).sort()).toEqual([...elsewhere].sort())
    expect(notRun.map(({ place, note }) => [place.split(':')[0], note])).toEqual([
      ['README.md', 'no-run because these two install and test the repository itself'],
      ...Array.from({ length: 3 }, () => [
        'docs/components.md',
        'no-run because the bytes of a component of yours are needed',
      ]),
      ['docs/components.md', 'no-run because the files of a component of yours are needed'],
      ['docs/components.md', "no-run because a worker's bundler makes modules of these imports"],
      ['docs/components.md', 'no-run because the bytes of a component of yours are needed'],
      ['docs/components.md', 'no-run because it is a component'],
      ['docs/conformance.md', 'no-run because they take a checkout of the suite, and minutes'],
      ['docs/modules-wasi.md', 'no-run because the 31 MB of an interpreter are needed'],
    ])
  })

  it('name npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object }
    const named = code.flatMap((snippet) =>
      snippet.language === 'sh'
        ? [...snippet.code.matchAll(/\bnpm (?:run )?(ci|start|test|[a-z:]+)/g)].map(([, script]) => script)
        : [],
    )
    expect(named).toContain('start')
    for (const script of named) if (script !== 'ci') expect(scripts).toHaveProperty([script as string])
  })

  it('have the types that they use', () => {
    expect(
      typeErrors(code.filter(({ language, note }) => language === 'ts' && !note.startsWith('no-run'))),
    ).toEqual([])
  }, 120_000)
})

describe('TypeScript snippets', () => {
  const nameOf = (place: string): string => place.replace(/[^a-z0-9]+/gi, '-')
  const pageOf = (place: string): string => place.split(':')[0] as string
  /** The snippets of a page run when the first of them is asked for. */
  const pages = new Map<string, Promise<ReadonlyMap<string, Ran>>>()

  async function runPage(page: string): Promise<ReadonlyMap<string, Ran>> {
    const snippets = typescript.filter(({ place }) => pageOf(place) === page)
    const ran = await runTypeScript(
      snippets.map(({ place, code: source }) => ({ name: nameOf(place), code: source })),
    )
    return new Map(snippets.map(({ place }, i) => [place, ran[i] as Ran]))
  }

  it.each(typescript)(
    '$place prints what it says',
    async ({ place, code: source }) => {
      const expected = expectedOutput(source)
      expect(expected.length, 'a snippet that prints nothing shows nothing').toBeGreaterThan(0)
      const page = pageOf(place)
      const running = pages.get(page) ?? runPage(page)
      pages.set(page, running)
      const ran = (await running).get(place) as Ran
      expect({ ...ran, printed: comparable(ran.printed, expected) }).toEqual({
        exitCode: 0,
        printed: expected,
        stderr: '',
      })
    },
    150_000,
  )
})

describe('shell snippets', () => {
  let folder = ''
  let bin = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'caisson-docs-'))
    bin = mkdtempSync(join(tmpdir(), 'caisson-docs-bin-'))
    // As `npx` in a folder where the package is installed.
    const main = join(ROOT, 'dist/src/cli/main.js')
    writeFileSync(
      join(bin, 'npx'),
      `#!/bin/sh\n[ "$1" = caisson ] || exit 127\nshift\nexec node ${main} "$@"\n`,
    )
    chmodSync(join(bin, 'npx'), 0o755)
  })
  afterAll(() => {
    for (const made of [folder, bin]) rmSync(made, { recursive: true, force: true })
  })

  async function runLine(command: string): Promise<Ran> {
    const args = caissonArguments(command)
    if (args === undefined) return runShell(command, folder, bin)
    const { code, stdout, stderr } = await cli(args, { cwd: folder })
    return { exitCode: code ?? -1, printed: stdout.split('\n').slice(0, -1), stderr }
  }

  it.each(shell)(
    '$place does what it says',
    async ({ code: lines }) => {
      for (const line of lines.split('\n').filter((text) => text !== '')) {
        const [, command = line, comment = ''] = /^(.*?)(?: +# (.*))?$/.exec(line) ?? []
        const ran = await runLine(command)
        const exit = /^exit (\d+)/.exec(comment)?.[1] ?? '0'
        expect(String(ran.exitCode), `${command}\n${ran.stderr}`).toBe(exit)
        const printed = /^prints (.*)$/.exec(comment)?.[1]
        if (printed !== undefined) expect(ran.printed.join('\n'), command).toBe(printed)
      }
    },
    180_000,
  )
})

/** The arguments of a line that is nothing but the command, in words or in single quotes; undefined where it takes a shell. */
function caissonArguments(line: string): readonly string[] | undefined {
  if (!/^npx caisson(?: +(?:[\w.:/-]+|'[^']*'))+ *$/.test(line)) return undefined
  const [, , ...args] = line.match(/[\w.:/-]+|'[^']*'/g) ?? []
  return args.map((word) => word.replaceAll("'", ''))
}
