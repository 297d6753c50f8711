import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { packedManifest, restoreManifest, stripManifest } from './pack-manifest.ts'

const ROOT = join(import.meta.dirname, '..')
const ours = readFileSync(join(ROOT, 'package.json'), 'utf8')

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'caisson-pack-'))
  writeFileSync(join(folder, 'package.json'), ours)
})
afterEach(() => rmSync(folder, { recursive: true }))

const manifest = (): string => readFileSync(join(folder, 'package.json'), 'utf8')

describe('the packed manifest', () => {
  it('has no scripts, no development dependencies, and everything else as it is', () => {
    const original = JSON.parse(ours) as Record<string, unknown>
    const packed = packedManifest(original)
    expect(Object.keys(original).filter((field) => !(field in packed))).toEqual([
      'scripts',
      'allowScripts',
      'devDependencies',
    ])
    for (const [field, value] of Object.entries(packed)) expect(value, field).toBe(original[field])
  })

  it('stands in place of the original while the package is packed', () => {
    const { scripts } = JSON.parse(ours) as { scripts: Record<string, string> }
    expect(scripts.prepack).toMatch(/ && tsx scripts\/pack-manifest\.ts --strip$/)
    expect(scripts.postpack).toBe('tsx scripts/pack-manifest.ts --restore')
    stripManifest(folder)
    expect(JSON.parse(manifest())).toEqual(packedManifest(JSON.parse(ours)))
    restoreManifest(folder)
    expect(manifest()).toBe(ours)
    expect(existsSync(join(folder, '.cache/package.json'))).toBe(false)
  })

  it('never takes the place of the original for good, however often packing dies in between', () => {
    stripManifest(folder)
    stripManifest(folder)
    restoreManifest(folder)
    expect(manifest()).toBe(ours)
    restoreManifest(folder)
    expect(manifest()).toBe(ours)
  })
})
