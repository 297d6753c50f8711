/**
 * Where a Chromium can come from, in the order in which they are tried:
 *
 * 1. `env`: the path in CHROMIUM_PATH. Who sets it means it, so it must work.
 * 2. `system`: a browser on PATH or in the usual places.
 * 3. `playwright`: the build that playwright keeps, downloaded when that is possible.
 * 4. `apt`: the distribution's package, where we are root and apt is there.
 * 5. `package`: the build inside the npm package `@sparticuz/chromium`, which needs no root and no
 *    download beyond the npm registry.
 *
 * A source only names candidates; whether one really starts is decided by the caller.
 */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { runCommand } from '../run-command.ts'
import { unpackChromium } from './unpack-chromium.ts'

export type SourceName = 'env' | 'system' | 'playwright' | 'apt' | 'package'

/** What a source may do: say what it tries, and where it may put files. */
export interface SourceContext {
  readonly say: (line: string) => void
  readonly cacheDirectory: string
}

export interface ChromiumSource {
  readonly name: SourceName
  /** Why this source cannot apply to this machine, or `undefined` when it can. */
  readonly notHere: () => string | undefined
  /** Brings what can be brought and names the executables to try. A throw means: nothing from here. */
  readonly candidates: (context: SourceContext) => Promise<readonly string[]>
}

const MINUTE_MS = 60_000

const env: ChromiumSource = {
  name: 'env',
  notHere: () => (process.env.CHROMIUM_PATH ? undefined : 'CHROMIUM_PATH is not set'),
  candidates: async () => [process.env.CHROMIUM_PATH ?? ''],
}

const system: ChromiumSource = {
  name: 'system',
  notHere: () => (systemCandidates().length > 0 ? undefined : 'no browser on PATH or in the usual places'),
  candidates: async () => systemCandidates(),
}

const playwright: ChromiumSource = {
  name: 'playwright',
  notHere: () => undefined,
  candidates: async ({ say }) => {
    const { chromium } = await import('playwright')
    const full = chromium.executablePath()
    if (existsSync(full)) return [full]
    say('playwright: asking it to download its Chromium')
    const cli = join(import.meta.dirname, '../../node_modules/playwright/cli.js')
    const install = await runCommand(process.execPath, [cli, 'install', 'chromium'], {
      timeoutMs: 5 * MINUTE_MS,
    })
    if (install.code !== 0) {
      throw new Error(
        install.output.split('\n').find((line) => line.startsWith('Error')) ?? 'the download failed',
      )
    }
    return [full]
  },
}

const apt: ChromiumSource = {
  name: 'apt',
  notHere: () => {
    if (!existsSync('/usr/bin/apt-get')) return 'there is no apt-get'
    return process.getuid?.() === 0 ? undefined : 'apt-get needs root'
  },
  candidates: async ({ say }) => {
    say('apt: apt-get update, then apt-get install chromium (a minute or two)')
    const options = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=2', '-y', '-q']
    const environment = { DEBIAN_FRONTEND: 'noninteractive' }
    for (const args of [['update'], ['install', '--no-install-recommends', 'chromium']]) {
      const { code, output } = await runCommand('apt-get', [...options, ...args], {
        env: environment,
        timeoutMs: 10 * MINUTE_MS,
      })
      if (code !== 0) {
        throw new Error(`apt-get ${args[0]} ended with ${code}: ${output.trim().split('\n').at(-1)}`)
      }
    }
    return systemCandidates()
  },
}

const packaged: ChromiumSource = {
  name: 'package',
  notHere: () =>
    process.platform === 'linux' && process.arch === 'x64'
      ? undefined
      : 'the packaged build is for Linux on x64',
  candidates: async ({ say, cacheDirectory }) => {
    say('package: unpacking the build in @sparticuz/chromium (200 MB on disk)')
    return [await unpackChromium(cacheDirectory)]
  },
}

/** All sources, in order. */
export const CHROMIUM_SOURCES: readonly ChromiumSource[] = [env, system, playwright, apt, packaged]

/** Existing files that may be a Chromium of the system: names on PATH first, then fixed places. */
function systemCandidates(): readonly string[] {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const onPath = names.flatMap((name) => folders.map((folder) => join(folder, name + suffix)))
  const programFiles = [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA]
  const fixed = [
    '/usr/bin/chromium',
    '/usr/lib/chromium/chromium',
    '/opt/google/chrome/chrome',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    ...programFiles.flatMap((folder) =>
      folder ? [join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe')] : [],
    ),
  ]
  return [...new Set([...onPath, ...fixed])].filter((path) => existsSync(path))
}
