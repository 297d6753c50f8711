/** The wasm of a sample, for whoever runs it: the committed build, or one that is made here and kept. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSample, installationOf, toolchainOf } from './build-sample.ts'
import { findSample, GUEST_FOLDER, isCommitted, type Sample } from './sample.ts'
import { BUILT_FOLDER, describeBuild, readManifest } from './sample-manifest.ts'

const KEPT = join(import.meta.dirname, '../../.cache/samples')

/**
 * @param name of a folder in `guest/samples`
 * @throws Error where there is no such sample, its committed build is not the one of the manifest, or its toolchain is
 * not installed
 */
export async function readSample(name: string): Promise<Uint8Array> {
  const sample = findSample(name)
  return isCommitted(sample) ? readCommitted(name) : readKept(sample)
}

function readCommitted(name: string): Uint8Array {
  const bytes = readFileSync(join(BUILT_FOLDER, `${name}.wasm`))
  if (describeBuild(bytes, '').sha256 !== readManifest()[name]?.sha256)
    throw new Error(`guest/samples/built/${name}.wasm is not the one of the manifest.`)
  return bytes
}

/** Built once for the same sources and tools. */
async function readKept(sample: Sample): Promise<Uint8Array> {
  const toolchain = await toolchainOf(sample)
  if (toolchain === undefined)
    throw new Error(
      `The sample ${sample.name} is built with what is not installed: ${installationOf(sample)}`,
    )
  const path = join(KEPT, `${sample.name}-${inputDigest(sample, toolchain)}.wasm`)
  if (existsSync(path)) return readFileSync(path)
  const bytes = await buildSample(sample)
  mkdirSync(KEPT, { recursive: true })
  // Whole or not at all: tests of several processes may build it at the same time.
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, bytes)
  renameSync(unfinished, path)
  return bytes
}

function inputDigest({ folder, sources, wit, ...recipe }: Sample, toolchain: string): string {
  const hash = createHash('sha256').update(JSON.stringify({ ...recipe, toolchain }))
  for (const source of sources) hash.update(readFileSync(join(folder, source)))
  if (wit !== undefined) hash.update(readFileSync(join(GUEST_FOLDER, 'wit', wit)))
  return hash.digest('hex').slice(0, 16)
}
