/** `build-errors.mjs` of a new component: what stops its build is told in words, with what to do next. */

/** @param system what npm does not bring, as a command line */
export function buildErrorsText(source: string, system: string | undefined): string {
  return `/** Runs a build. What stops it is told in words, with what to do next, and the exit code is 1. */
import { readFileSync } from 'node:fs'

const NEXT = [
  [
    /World \`guest\` not found/,
    'world.wit begins with "package local:guest;" and a "world guest" that says what this component exports. ' +
      'What "caisson types --wit" prints stands behind that world, in braces and without its first line: ' +
      'package caisson:capabilities { ... }',
  ],
  [/failed to find export of function/, 'Write that function in ${source}, or take it out of world.wit.'],
  [/failed to resolve import/, 'Import it in world.wit, or do without it in ${source}.'],
  [/Cannot find (module|package)/, 'npm install'],
  [/ENOENT/, ${JSON.stringify(system ?? 'Put the file back.')}],
  [/${source.split('/').at(-1)?.replace('.', '\\.')}/, 'Mend ${source}.'],
  [/(?:)/, 'Mend world.wit: https://component-model.bytecodealliance.org/design/wit.html'],
]

export async function tellErrors(build) {
  try {
    await build()
  } catch (error) {
    process.exitCode = 1
    // A compiler that failed has said why.
    if (typeof error?.status === 'number') return
    const reason = reasonOf(error)
    console.error(\`error: \${placeOf(reason)}\${reason}\`)
    console.error(\`next:  \${NEXT.find(([pattern]) => pattern.test(reason))[1]}\`)
  }
}

/** Of a chain of reasons the one that says which name it is about, else the innermost. */
function reasonOf(error) {
  const [first, causes] = String(error?.message ?? error).split('Caused by:')
  const reasons = (causes ?? '').split(/^ *\\d+: /m).map((one) => one.trim())
  const told = reasons.find((one) => /^failed to (find|resolve)/.test(one)) ?? reasons.at(-1)
  const reason = told || first.replaceAll('componentize-qjs:user.js', '${source}').replace(/^[:\\s]+/, '')
  return (error?.code === 'ERR_MODULE_NOT_FOUND' || error?.code === 'MODULE_NOT_FOUND' ? reason.split('\\n')[0] : reason).trim()
}

/** Where in world.wit a name stands that means nothing. */
function placeOf(reason) {
  const [, name] = /name \`([^\`]+)\` does not exist/.exec(reason) ?? []
  if (name === undefined) return ''
  const lines = readFileSync('world.wit', 'utf8').split('\\n')
  return \`world.wit:\${lines.findIndex((line) => line.includes(name)) + 1}: \`
}
`
}
