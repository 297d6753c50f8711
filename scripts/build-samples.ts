/**
 * Builds the sample guests: `npm run build:samples`, or `npm run build:samples -- NAME ...` for some.
 *
 * What is built goes to `guest/samples/built`, with its digest and its toolchain in `manifest.json` there. A sample whose
 * compiler is not installed stays as it is committed, and is named with what brings its compiler.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSample, installationOf, toolchainOf } from './samples/build-sample.ts'
import { readSample } from './samples/read-sample.ts'
import { findSample, isCommitted, listSamples, type Sample } from './samples/sample.ts'
import { BUILT_FOLDER, describeBuild, readManifest, writeManifest } from './samples/sample-manifest.ts'

async function build(sample: Sample): Promise<string> {
  const toolchain = await toolchainOf(sample)
  if (toolchain === undefined) return `kept as it is: it needs ${installationOf(sample)}`
  if (!isCommitted(sample))
    return `${(await readSample(sample.name)).length} bytes, not committed (${toolchain})`
  const bytes = await buildSample(sample)
  const built = describeBuild(bytes, toolchain)
  const changed = readManifest()[sample.name]?.sha256 === built.sha256 ? 'as it was' : 'changed'
  writeFileSync(join(BUILT_FOLDER, `${sample.name}.wasm`), bytes)
  writeManifest({ ...readManifest(), [sample.name]: built })
  return `${bytes.length} bytes, ${changed} (${toolchain})`
}

const names = process.argv.slice(2)
let failed = false
for (const sample of names.length > 0 ? names.map(findSample) : listSamples()) {
  try {
    process.stdout.write(`${sample.name}: ${await build(sample)}\n`)
  } catch (error) {
    failed = true
    process.stderr.write(`${sample.name}: ${String(error)}\n`)
  }
}
process.exitCode = failed ? 1 : 0
