/** A host with little stack of its own is refused before a guest starts; with enough, its depth does not show. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const entry = new URL('../../dist/src/entry/node.js', import.meta.url).href
const script = `
  import { openRuntime } from ${JSON.stringify(entry)}
  const runtime = await openRuntime()
  const report = (outcome) => [outcome.status, outcome.limit, outcome.usage.fuel]
  try {
    console.log(JSON.stringify(report(await runtime.run(process.argv.at(-1)))))
  } catch (error) {
    console.log(JSON.stringify(error.code))
  }`

const DEEP = '(function f() { f() })()'

function runWithStack(kilobytes: number, program: string): unknown {
  const output = execFileSync(
    process.execPath,
    [`--stack-size=${kilobytes}`, '--input-type=module', '-e', script, program],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      encoding: 'utf8',
    },
  )
  return JSON.parse(output)
}

describe("the host's own stack", () => {
  it('is refused when it is too small for the stack limit of guests', () => {
    // Also for a program that would not need it: the answer must not depend on the program.
    expect(runWithStack(250, '1 + 2')).toBe('native_stack_low')
  })

  it('does not show in where a guest ends when it is large enough', () => {
    const usual = runWithStack(984, DEEP)
    expect(usual).toMatchObject(['exhausted', 'stack', expect.any(Number)])
    expect(runWithStack(800, DEEP)).toEqual(usual)
  })
})
