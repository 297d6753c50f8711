/**
 * Bundles `guest/prelude` into the sources that an engine build carries.
 *
 * The prelude becomes one expression: a function of the host functions, by position. Each file in `units/` becomes an
 * expression of its own.
 */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { buildSync } from 'esbuild'
import { BRIDGE_SOURCE } from '../../src/isolate/bridge/bridge-source.ts'
import type { GuestSources } from '../../src/isolate/guest-sources.ts'
import { HOST_FUNCTIONS } from '../../src/isolate/host-functions.ts'

const PRELUDE = join(import.meta.dirname, '../../guest/prelude')

export function bundleGuestSources(): GuestSources {
  const hostFunctions = Object.keys(HOST_FUNCTIONS)
  const units = readdirSync(join(PRELUDE, 'units'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .sort()
  return {
    bridge: BRIDGE_SOURCE,
    prelude: bundle('main.ts', hostFunctions.join(), `{${hostFunctions.join()}}`),
    hostFunctions,
    units: Object.fromEntries(
      units.map((file) => [basename(file, '.ts'), bundle(`units/${file}`, 'internals', 'internals')]),
    ),
  }
}

/** An expression: a function that gives `argument` to the default export of a file. */
function bundle(file: string, parameters: string, argument: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(PRELUDE, file)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2023',
    minify: true,
    legalComments: 'none',
    charset: 'ascii',
  })
  const [, body, main] = /^([\s\S]*)export\{([\w$]+) as default\};\s*$/.exec(outputFiles[0]?.text ?? '') ?? []
  if (body === undefined) throw new Error(`guest/prelude/${file} has no default export, or more than that.`)
  return `((${parameters})=>{"use strict";${body}return ${main}(${argument})})`
}
