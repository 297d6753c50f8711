/** What is committed is what the sources make. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildSample, installationOf, toolchainOf } from '../../scripts/samples/build-sample.ts'
import { isCommitted, listSamples, SAMPLES_FOLDER, type Sample } from '../../scripts/samples/sample.ts'
import { BUILT_FOLDER, describeBuild, readManifest } from '../../scripts/samples/sample-manifest.ts'

const committed = listSamples().filter(isCommitted)
const toolchains = new Map<string, string | undefined>()
for (const sample of committed) toolchains.set(sample.name, await toolchainOf(sample))
const manifest = readManifest()
const readBuilt = (name: string): Uint8Array => readFileSync(join(BUILT_FOLDER, `${name}.wasm`))

describe('the committed builds of sample guests', () => {
  it('are one for each sample, and the ones of the manifest', () => {
    const names = committed.map(({ name }) => name)
    expect(Object.keys(manifest)).toEqual(names)
    expect(readdirSync(BUILT_FOLDER).sort()).toEqual(
      [...names.map((name) => `${name}.wasm`), 'manifest.json'].sort(),
    )
    for (const name of names) {
      const { toolchain = '' } = manifest[name] ?? {}
      expect(describeBuild(readBuilt(name), toolchain), name).toEqual(manifest[name])
    }
  })

  it('are small', () => {
    for (const { name } of committed) expect(readBuilt(name).length, name).toBeLessThan(200_000)
  })

  it('are listed in the README of the samples, with what they are for', () => {
    const page = readFileSync(join(SAMPLES_FOLDER, 'README.md'), 'utf8')
    for (const { name, about } of listSamples())
      expect(page).toContain(`| [\`${name}\`](${name}) | ${about} |`)
  })

  it.each(committed.map((sample) => [rebuilding(sample), sample] as const))(
    '%s',
    async (_title, sample) => {
      const toolchain = toolchains.get(sample.name)
      const recorded = manifest[sample.name]
      // Not here: what is committed is tested all the same, beside this file.
      const built = toolchain === undefined ? recorded : describeBuild(await buildSample(sample), toolchain)
      expect(built?.bytes).toBeGreaterThan(100)
      // Another compiler makes other bytes; what they do is tested beside this file.
      if (built?.toolchain === recorded?.toolchain) expect(built).toEqual(recorded)
    },
    120_000,
  )
})

/** What a test does with a sample, by what is installed. */
function rebuilding({ name, ...sample }: Sample): string {
  const toolchain = toolchains.get(name)
  const recorded = manifest[name]?.toolchain
  if (toolchain === undefined)
    return `${name}: not rebuilt, since this is not here: ${installationOf({ name, ...sample })}`
  return toolchain === recorded
    ? `${name}: the same bytes, by ${toolchain}`
    : `${name}: builds with ${toolchain} too, beside ${recorded}`
}
