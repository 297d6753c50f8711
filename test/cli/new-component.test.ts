/** `caisson new component`: what it makes builds, with what the folder asks for, and runs. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { C_COMPILER } from '../../scripts/samples/c-compiler.ts'
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
        const component = await transpile(readFileSync(join(folder, 'component.wasm')), 'made')
        expect(component.imports).toEqual([])
        const guest = await component.instantiate()
        expect([guest.run('wörld'), guest.run('')]).toEqual(['Hello, wörld', 'Hello, '])
      })
    },
    120_000,
  )

  it('tells machines what was made, and what comes next', async () => {
    await inFolder(async ({ path }) => {
      const made = await cli(['new', 'component', 'deep/tool', '--lang', 'as', '--json'], { cwd: path })
      const document = JSON.parse(made.stdout) as { files: string[]; next: string[]; folder: string }
      expect(document).toMatchObject({ status: 'completed', folder: join(path, 'deep/tool') })
      expect(document.next).toEqual(['cd deep/tool', 'npm install', 'npm run build'])
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
