/**
 * Finds a Chromium that really starts, and brings one when there is none.
 *
 * Run by the browser tests before they begin, and by hand:
 *
 *     npx tsx scripts/ensure-chromium.ts [--only SOURCE]
 *
 * prints the path on standard output, and what it tries on standard error. The answer is kept in
 * `.cache/chromium/found.json` and checked again on every use.
 *
 * Invariants:
 * 1. A path is returned only after that browser rendered a page.
 * 2. CHROMIUM_PATH is obeyed or the search fails; it is never passed over in silence.
 * 3. When nothing works, the error names every source with its reason and what a person can do.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CHROMIUM_SOURCES, type ChromiumSource, type SourceName } from './chromium/sources.ts'

export interface FoundChromium {
  readonly executablePath: string
  readonly source: SourceName
}

export interface SearchOptions {
  /** Tried in this order. Default: all. */
  readonly sources?: readonly ChromiumSource[]
  /** Where the answer and an unpacked browser are kept. Default: `.cache/chromium`. */
  readonly cacheDirectory?: string
  /** Takes each line about what is tried. Default: standard error. */
  readonly say?: (line: string) => void
  /** Why the browser at this path does not work, or `undefined`. Default: it must render a page. */
  readonly failureOf?: (executablePath: string) => Promise<string | undefined>
}

const DEFAULT_CACHE = join(import.meta.dirname, '../.cache/chromium')

/** @throws Error when no source yields a browser that starts */
export async function ensureChromium(options: SearchOptions = {}): Promise<FoundChromium> {
  const {
    sources = CHROMIUM_SOURCES,
    cacheDirectory = DEFAULT_CACHE,
    say = (line: string) => process.stderr.write(`chromium: ${line}\n`),
    failureOf = renderingFailure,
  } = options

  const remembered = readRemembered(cacheDirectory)
  const kept = sources.some((source) => source.name === remembered?.source)
  // Invariant 2: a path given by hand goes before a remembered one.
  const givenByHand = sources.some((source) => source.name === 'env' && source.notHere() === undefined)
  if (remembered && kept && !givenByHand && !(await failureOf(remembered.executablePath))) return remembered

  const reasons: string[] = []
  for (const source of sources) {
    const found = await trySource(source)
    if (typeof found !== 'string') {
      say(`using ${found.executablePath} (${found.source})`)
      // What the environment names is valid as long as the environment names it.
      if (found.source !== 'env') remember(found, cacheDirectory)
      return found
    }
    say(`${source.name}: ${found}`)
    reasons.push(`  ${source.name}: ${found}`)
    if (source.name === 'env' && givenByHand) break
  }
  throw new Error(
    [
      'No Chromium could be found or installed, and the browser tests need one.',
      ...reasons,
      'Install Chromium or Google Chrome, or set CHROMIUM_PATH to the executable, and run the command again.',
    ].join('\n'),
  )

  async function trySource(source: ChromiumSource): Promise<FoundChromium | string> {
    const notHere = source.notHere()
    if (notHere !== undefined) return notHere
    try {
      const failures: string[] = []
      for (const executablePath of await source.candidates({ say, cacheDirectory })) {
        const failure = await failureOf(executablePath)
        if (failure === undefined) return { executablePath, source: source.name }
        failures.push(`${executablePath} does not start (${failure})`)
      }
      return failures.join('; ') || 'nothing found'
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
}

/**
 * Drives the browser as the tests do. `--version` would not prove that it runs, and the packaged build
 * has no `--dump-dom`.
 */
async function renderingFailure(executablePath: string): Promise<string | undefined> {
  const { chromium } = await import('playwright')
  try {
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: 60_000 })
    try {
      const page = await browser.newPage()
      await page.goto('data:text/html,<p>caisson</p>')
      return (await page.textContent('p')) === 'caisson' ? undefined : 'it showed another page'
    } finally {
      await browser.close()
    }
  } catch (error) {
    const lines = String(error).split('\n')
    // What the browser itself said, a missing library for example, explains more than the driver's words.
    return (lines.find((line) => line.includes('[err]')) ?? lines[0] ?? '').replace(/^.*\[err\] /, '').trim()
  }
}

function remember(found: FoundChromium, cacheDirectory: string): void {
  mkdirSync(cacheDirectory, { recursive: true })
  writeFileSync(join(cacheDirectory, 'found.json'), `${JSON.stringify(found, undefined, 2)}\n`)
}

function readRemembered(cacheDirectory: string): FoundChromium | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(join(cacheDirectory, 'found.json'), 'utf8'))
    if (typeof found !== 'object' || found === null) return undefined
    const { executablePath, source } = found as Partial<FoundChromium>
    return typeof executablePath === 'string' && source ? { executablePath, source } : undefined
  } catch {
    // Not there yet, or cut off while it was written: search again.
    return undefined
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const only = process.argv[2] === '--only' ? process.argv[3] : undefined
  const sources = CHROMIUM_SOURCES.filter((source) => only === undefined || source.name === only)
  try {
    process.stdout.write(`${(await ensureChromium({ sources })).executablePath}\n`)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
