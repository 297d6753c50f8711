/**
 * Each sample is tested as it is committed, and as it is built here where that may differ: by the versions that made the
 * committed one the bytes are the same (committed.test.ts). Where its compiler is not installed, the name of the test
 * says so: the committed build is tested all the same, and nothing is skipped.
 */
import { describe, it } from 'vitest'
import { buildSample, installationOf, toolchainOf } from '../../scripts/samples/build-sample.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { findSample, isCommitted, type Sample } from '../../scripts/samples/sample.ts'
import { readManifest } from '../../scripts/samples/sample-manifest.ts'

/** @param check expects of the wasm of a sample what its world promises */
export async function describeSample(
  name: string,
  behaviours: Readonly<Record<string, (wasm: Uint8Array) => Promise<void>>>,
): Promise<void> {
  for (const { title, read } of await buildsOf(findSample(name)))
    describe(`${name}, ${title}`, () => {
      for (const [behaviour, check] of Object.entries(behaviours))
        it(`${behaviour}`, async () => check(await read()), 120_000)
    })
}

interface Build {
  readonly title: string
  read(): Promise<Uint8Array>
}

async function buildsOf(sample: Sample): Promise<readonly Build[]> {
  const toolchain = await toolchainOf(sample)
  const read = (): Promise<Uint8Array> => readSample(sample.name)
  if (!isCommitted(sample)) return [{ title: `built here by ${toolchain}`, read }]
  if (toolchain === undefined)
    return [{ title: `as committed, since this is not here: ${installationOf(sample)}`, read }]
  if (toolchain === readManifest()[sample.name]?.toolchain)
    return [{ title: `as committed, and as ${toolchain} builds it`, read }]
  let building: Promise<Uint8Array> | undefined
  const build = (): Promise<Uint8Array> => {
    building ??= buildSample(sample)
    return building
  }
  return [
    { title: 'as committed', read },
    { title: `as ${toolchain} builds it`, read: build },
  ]
}
