/** `caisson new component`: what it makes builds, with what the folder asks for, and runs. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { C_COMPILER } from '../../scripts/samples/c-compiler.ts'
import { RUN_COMPONENT } from '../../src/cli/new/component-template.ts'
import { transpile } from '../samples/transpiled.ts'
import { cli, type Folder, makeFolder } from './cli.testkit.ts'

const ROOT = join(import.meta.dirname, '../..')
const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  devDependencies: Readonly<Record<string, string>>
}

async function inFolder(check: (folder: Folder) => Promise<void>): Promise<void> {
  const folder = makeFolder({})
  try {
    await check(folder)
  } finally {
    folder.remove()
  }
}

/** Without what npm puts into PATH for the tests: clang starts the `wasm-opt` of this repository there, for seconds. */
const OUTSIDE = {
  ...process.env,
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.startsWith(ROOT))
    .join(delimiter),
}

const clang = await C_COMPILER.version()

/** Language, what builds it here, and why it is not built where that is missing. */
const LANGUAGES = [
  ['c', clang !== undefined, clang ?? `not built, since this is not here: ${C_COMPILER.from}`],
  ['as', true, 'assemblyscript'],
  ['js', true, 'componentize-qjs'],
] as const

describe('caisson new component', () => {
  it.each(LANGUAGES)(
    '--lang %s (here: %s, %s) makes what builds and runs',
    async (lang, builds) => {
      await inFolder(async ({ path }) => {
        const made = await cli(['new', 'component', 'my-tool', '--lang', lang], { cwd: path })
        expect([made.code, made.stderr]).toEqual([0, ''])
        expect(made.stdout).toContain('npm run build')
        const folder = join(path, 'my-tool')
        expect(existsSync(join(folder, 'world.wit'))).toBe(true)
        const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
          devDependencies: Readonly<Record<string, string>>
        }
        // Installed here, in the same versions: npm would bring nothing else.
        expect(devDependencies).toMatchObject(manifest.devDependencies)
        if (!builds) return
        symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
        execFileSync(process.execPath, ['build.mjs'], { cwd: folder, stdio: 'pipe', env: OUTSIDE })
        // The last line of what is printed, which is in the README of the folder, too.
        expect(made.stdout.trimEnd().endsWith(RUN_COMPONENT)).toBe(true)
        expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(RUN_COMPONENT)
        const args = ['run', 'component.wasm', '--input', '["text"]']
        expect(await cli(args, { cwd: folder })).toMatchObject({ code: 0, stdout: 'Hello, text\n' })
        const component = await transpile(readFileSync(join(folder, 'component.wasm')), 'made')
        expect(component.imports).toEqual([])
        const guest = await component.instantiate()
        expect(Object.keys(guest)).toEqual(['run'])
        expect([guest.run('wörld'), guest.run('')]).toEqual(['Hello, wörld', 'Hello, '])
      })
    },
    120_000,
  )

  it.each([
    ['c', clang !== undefined, 'component.c', 'int run('],
    ['as', true, 'assembly/index.ts', 'export function g('],
    ['js', true, 'component.js', 'export function run(input {'],
  ] as const)(
    '--lang %s (here: %s) makes a build that says what stops it, and what to do next',
    async (lang, builds, source, mistake) => {
      if (!builds) return
      await inFolder(async ({ path }) => {
        await cli(['new', 'component', 'tool', '--lang', lang], { cwd: path })
        const folder = join(path, 'tool')
        const at = (file: string): string => join(folder, file)
        const world = readFileSync(at('world.wit'), 'utf8')
        const build = (wit: string): { readonly code: number | null; readonly said: string } => {
          writeFileSync(at('world.wit'), wit)
          const { status, stdout, stderr } = spawnSync(process.execPath, ['build.mjs'], {
            cwd: folder,
            encoding: 'utf8',
            env: OUTSIDE,
          })
          return { code: status, said: stdout + stderr }
        }
        const refused = (wit: string, ...parts: readonly RegExp[]): void => {
          const { code, said } = build(wit)
          expect(code, said).toBe(1)
          for (const part of parts) expect(said).toMatch(part)
          expect(said).not.toMatch(/file:\/\/|node:internal|\[Error/)
        }
        symlinkSync(join(ROOT, 'node_modules'), at('node_modules'))
        refused(
          'package caisson:capabilities;\nworld granted-capabilities {}\n',
          /^error: World `guest` not found/m,
          /^next: .*stands behind that world, in braces/m,
        )
        refused(
          world.replace('string', 'strin'),
          /^error: world\.wit:5: name `strin` does not exist/m,
          /^next: /m,
        )
        if (lang === 'js')
          refused(world.replace('run:', 'run'), /^error: expected /m, /^next: {2}Mend world\.wit/m)
        else {
          const next = new RegExp(`^next: {2}Write that function in ${source}`, 'm')
          refused(world.replace('run:', 'other:'), /^error: failed to find export of function `other`/m, next)
        }
        const right = readFileSync(at(source), 'utf8')
        writeFileSync(at(source), `${right}\n${mistake}`)
        if (lang === 'js') refused(world, /^ {4}at component\.js:\d+:\d+$/m, /^next: {2}Mend component\.js/m)
        else refused(world, /error/i)
        writeFileSync(at(source), right)
        rmSync(at('node_modules'))
        refused(world, /^error: Cannot find (module|package) /m, /^next: {2}npm install$/m)
      })
    },
    300_000,
  )

  it('tells machines what was made, and what comes next', async () => {
    await inFolder(async ({ path }) => {
      const made = await cli(['new', 'component', 'deep/tool', '--lang', 'as', '--json'], { cwd: path })
      const document = JSON.parse(made.stdout) as { files: string[]; next: string[]; folder: string }
      expect(document).toMatchObject({ status: 'completed', folder: join(path, 'deep/tool') })
      expect(document.next).toEqual([
        'cd deep/tool',
        'npm install',
        'npm run build',
        `npx caisson run component.wasm --input '["text"]'`,
      ])
      for (const file of document.files) expect(existsSync(join(document.folder, file)), file).toBe(true)
    })
  })

  it('writes over nothing, and refuses names and languages that there are not', async () => {
    await inFolder(async ({ path }) => {
      const refuse = async (...args: readonly string[]): Promise<string> => {
        const { code, stderr, stdout } = await cli(['new', 'component', ...args], { cwd: path })
        expect([code, stdout]).toEqual([2, ''])
        return stderr
      }
      await cli(['new', 'component', 'tool', '--lang', 'as'], { cwd: path })
      expect(await refuse('tool', '--lang', 'c')).toContain('tool is there already')
      expect(await refuse('Tool_1', '--lang', 'c')).toContain('is no name for a component')
      expect(await refuse('..', '--lang', 'c')).toMatch(/is no name for a component|is there already/)
      expect(await refuse('other', '--lang', 'cobol')).toContain('no template for "cobol"')
      expect(await refuse('other')).toContain('In which language?')
      expect(readdirSync(path)).toEqual(['tool'])
    })
  })
})
