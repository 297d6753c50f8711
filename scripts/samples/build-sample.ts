/** A sample, from its sources to the wasm of it. */
import { ASSEMBLYSCRIPT_COMPILER } from './assemblyscript-compiler.ts'
import { C_COMPILER } from './c-compiler.ts'
import type { Compiler } from './compiler.ts'
import { JAVASCRIPT_COMPILER } from './javascript-compiler.ts'
import { COMPONENT_TOOLS, makeComponent } from './make-component.ts'
import { RUST_COMPILER } from './rust-compiler.ts'
import type { Sample } from './sample.ts'
import { WAT_COMPILER } from './wat-compiler.ts'

const COMPILERS: Readonly<Record<Sample['language'], Compiler>> = {
  c: C_COMPILER,
  assemblyscript: ASSEMBLYSCRIPT_COMPILER,
  javascript: JAVASCRIPT_COMPILER,
  rust: RUST_COMPILER,
  wat: WAT_COMPILER,
}

/**
 * What would build the sample here, by names and versions: where they are equal, the bytes are.
 * @returns undefined where the compiler is not installed
 */
export async function toolchainOf(sample: Sample): Promise<string | undefined> {
  const compiler = await COMPILERS[sample.language].version()
  if (compiler === undefined || compiler === COMPONENT_TOOLS) return compiler
  return sample.kind === 'component' && sample.language !== 'javascript'
    ? `${compiler}, ${COMPONENT_TOOLS}`
    : compiler
}

/** How the compiler of a sample is installed. */
export function installationOf(sample: Sample): string {
  return COMPILERS[sample.language].from
}

/** @throws Error with what the compiler said */
export async function buildSample(sample: Sample): Promise<Uint8Array> {
  const bytes = await COMPILERS[sample.language].compile(sample)
  return sample.kind === 'component' && sample.language !== 'javascript'
    ? makeComponent(bytes, sample)
    : bytes
}
