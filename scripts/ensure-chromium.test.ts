import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CHROMIUM_SOURCES, type ChromiumSource, type SourceName } from './chromium/sources.ts'
import { ensureChromium } from './ensure-chromium.ts'

let cacheDirectory = ''
beforeEach(() => {
  cacheDirectory = mkdtempSync(join(tmpdir(), 'caisson-chromium-'))
})
afterEach(() => rmSync(cacheDirectory, { recursive: true, force: true }))

const offers = (name: SourceName, ...paths: string[]): ChromiumSource => ({
  name,
  notHere: () => undefined,
  candidates: async () => paths,
})
const absent = (name: SourceName): ChromiumSource => ({
  ...offers(name),
  notHere: () => 'not on this machine',
})
const onlyWorks = (path: string) => async (candidate: string) =>
  candidate === path ? undefined : 'libnss3.so is missing'

describe('the order of the sources', () => {
  it('is environment, system, playwright, apt, package', () => {
    expect(CHROMIUM_SOURCES.map((source) => source.name)).toEqual([
      'env',
      'system',
      'playwright',
      'apt',
      'package',
    ])
  })

  it('goes on to the next source when a browser is there and does not start', async () => {
    const said: string[] = []
    const found = await ensureChromium({
      sources: [absent('env'), offers('system', '/broken', '/stub'), offers('package', '/good')],
      cacheDirectory,
      say: (line) => said.push(line),
      failureOf: onlyWorks('/good'),
    })
    expect(found).toEqual({ executablePath: '/good', source: 'package' })
    expect(said).toContain(
      'system: /broken does not start (libnss3.so is missing); /stub does not start (libnss3.so is missing)',
    )
  })

  it('asks no later source once one has answered', async () => {
    const apt = { ...offers('apt'), candidates: vi.fn() }
    await ensureChromium({
      sources: [offers('system', '/good'), apt],
      cacheDirectory,
      say: () => {},
      failureOf: onlyWorks('/good'),
    })
    expect(apt.candidates).not.toHaveBeenCalled()
  })
})

describe('invariant 2: a path given by hand', () => {
  it('is never passed over, not even for a browser that works', async () => {
    const search = ensureChromium({
      sources: [offers('env', '/mine'), offers('system', '/good')],
      cacheDirectory,
      say: () => {},
      failureOf: onlyWorks('/good'),
    })
    await expect(search).rejects.toThrow('env: /mine does not start')
  })

  it('goes before a remembered one', async () => {
    writeFileSync(join(cacheDirectory, 'found.json'), '{"executablePath":"/old","source":"system"}')
    const found = await ensureChromium({
      sources: [offers('env', '/mine'), offers('system', '/old')],
      cacheDirectory,
      say: () => {},
      failureOf: async () => undefined,
    })
    expect(found.executablePath).toBe('/mine')
  })
})

describe('the remembered answer', () => {
  const search = (failureOf: (path: string) => Promise<string | undefined>) => {
    const system = { ...offers('system'), candidates: vi.fn(async () => ['/good']) }
    const found = ensureChromium({
      sources: [absent('env'), system],
      cacheDirectory,
      say: () => {},
      failureOf,
    })
    return { found, candidates: system.candidates }
  }

  it('is used again without a search while it still works', async () => {
    await search(onlyWorks('/good')).found
    const again = search(onlyWorks('/good'))
    expect(await again.found).toEqual({ executablePath: '/good', source: 'system' })
    expect(again.candidates).not.toHaveBeenCalled()
  })

  it('is searched for again when that browser is gone', async () => {
    writeFileSync(join(cacheDirectory, 'found.json'), '{"executablePath":"/gone","source":"system"}')
    expect((await search(onlyWorks('/good')).found).executablePath).toBe('/good')
  })

  it.each(['', '{', 'null', '[]', '{"source":"system"}'])('may be damaged (%j)', async (content) => {
    writeFileSync(join(cacheDirectory, 'found.json'), content)
    expect((await search(onlyWorks('/good')).found).executablePath).toBe('/good')
  })
})

it('invariant 3: names every source with its reason when nothing works', async () => {
  const broken: ChromiumSource = {
    ...offers('apt'),
    candidates: async () => {
      throw new Error('apt-get update ended with 100')
    },
  }
  const error = await ensureChromium({
    sources: [absent('env'), offers('system'), broken],
    cacheDirectory,
    say: () => {},
  }).then(
    () => expect.fail('it found a browser'),
    (reason: unknown) => String(reason),
  )
  expect(error).toContain('env: not on this machine')
  expect(error).toContain('system: nothing found')
  expect(error).toContain('apt: apt-get update ended with 100')
  expect(error).toContain('CHROMIUM_PATH')
})
