/** The pages of docs/embedding.md in real Chromium: bundled by Vite, bundled by esbuild, and not bundled at all. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright'
import { build as viteBuild } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT, theSnippet } from '../docs/documented-pages.ts'
import { expectedOutput } from '../docs/expected-output.ts'
import { launchChromium } from './open-page.ts'
import { servePage } from './page-server.ts'

let browser: Browser
/** A project of a reader: the package is installed, as it would be published. */
const project = mkdtempSync(join(tmpdir(), 'caisson-documented-'))

beforeAll(async () => {
  browser = await launchChromium()
  mkdirSync(join(project, 'node_modules/caisson'), { recursive: true })
  cpSync(join(ROOT, 'dist'), join(project, 'node_modules/caisson/dist'), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(project, 'node_modules/caisson/package.json'))
  for (const installed of ['@noble', '@bjorn3', 'yaml', 'esbuild', '.bin']) {
    symlinkSync(join(ROOT, 'node_modules', installed), join(project, 'node_modules', installed))
  }
})
afterAll(async () => {
  await browser?.close()
  rmSync(project, { recursive: true, force: true })
})

/** What the page in `folder` logs, up to `lines` lines; errors of the page count as lines. */
async function logged(folder: string, lines: number, bypassCSP = false): Promise<readonly string[]> {
  const server = await servePage(folder)
  const page = await browser.newPage({ bypassCSP })
  try {
    const said: string[] = []
    const done = new Promise<void>((resolve) => {
      const say = (line: string): void => {
        said.push(line)
        if (said.length === lines) resolve()
      }
      page.on('console', (message) => say(message.text()))
      page.on('pageerror', (error) => say(error.message))
    })
    await page.goto(server.url)
    await done
    return said
  } finally {
    await page.close()
    await server.close()
  }
}

const html = (script: string): string =>
  `<!doctype html><title>A page</title><link rel="icon" href="data:," /><script type="module" src="${script}"></script>`

describe('the documented pages', () => {
  it('run when Vite bundles them', async () => {
    const root = join(project, 'vite')
    mkdirSync(root)
    const { code } = theSnippet('ts', 'browser=vite')
    writeFileSync(join(root, 'page.ts'), code)
    writeFileSync(join(root, 'index.html'), html('./page.ts'))
    await viteBuild({ root, configFile: false, logLevel: 'error' })
    const expected = expectedOutput(code)
    expect(await logged(join(root, 'dist'), expected.length)).toEqual(expected)
  })

  it('run when esbuild bundles them, by the command that is shown', async () => {
    const { code } = theSnippet('ts', 'browser=esbuild')
    writeFileSync(join(project, 'page.ts'), code)
    const built = spawnSync('/bin/sh', ['-c', theSnippet('sh', 'esbuild').code], {
      cwd: project,
      encoding: 'utf8',
    })
    expect(built.status, built.stderr).toBe(0)
    writeFileSync(join(project, 'public/index.html'), html('/page.js'))
    const expected = expectedOutput(code)
    expect(await logged(join(project, 'public'), expected.length)).toEqual(expected)
  })

  it('run without a bundler', async () => {
    const { code } = theSnippet('html', 'plain')
    writeFileSync(
      join(project, 'index.html'),
      code.replace('<title>', '<link rel="icon" href="data:," /><title>'),
    )
    const expected = expectedOutput(code)
    // The strict policy of the server has no place for an import map that stands in the page itself.
    expect(await logged(project, expected.length, true)).toEqual(expected)
  })
})
