/**
 * What runs in the guest before the first line of test262: it gives the tests `print` and `$262`, has the host
 * evaluate harness and test as scripts, and tells the host how the test ended.
 *
 * Invariants
 * 1. A test is evaluated as a script of its own, as the language says, and never by `eval`: its declarations are global.
 * 2. Nothing that a test overwrites is used after the test began, but for the name and text of what it threw.
 * 3. Apart from `print` and `$262` no global is left.
 */

import { adoptBox, EVALUATED } from '../script-evaluator.ts'

/** Host functions that the driver takes, in the order of the guest's capabilities. */
export const DRIVER_CALLS = ['adopt', 'evaluate', 'print', 'report', 'next'] as const

/** The global that lends the driver its functions, until it has taken them. */
export const HOLDER = '$262'

/** Which script `evaluate` takes: a number counts in the order of the harness, a text is `$262.evalScript`'s. */
export const TEST_SCRIPT = -1

/** What the test threw, or nothing. */
export interface DriverReport {
  readonly threw: boolean
  readonly name: string
  readonly message: string
}

/**
 * @param harnessFiles how many scripts stand before the test
 * @param isModule a module has ended when its promise is settled; what a script evaluates to is its own affair
 */
export function driverSource(harnessFiles: number, isModule: boolean): string {
  return `(() => {
  const { adopt, evaluate, print, report, next } = globalThis.${HOLDER}
  ${adoptBox(HOLDER)}
  const { apply, defineProperty } = Reflect
  const { then } = Promise.prototype
  const { transfer } = ArrayBuffer.prototype
  const run = (script) => {
    const ended = evaluate(script)
    const value = take()
    if (ended === ${EVALUATED.thrown}) throw value
    return value
  }
  const define = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  define('print', (text) => print(\`\${text}\`))
  define('$262', {
    evalScript: (source) => run(\`\${source}\`),
    detachArrayBuffer: (buffer) => void apply(transfer, buffer, []),
    gc: () => {
      throw new Error('A guest cannot collect garbage.')
    },
    global: globalThis,
  })
  const text = (make) => {
    try {
      return \`\${make()}\`
    } catch {
      return '[not to be read]'
    }
  }
  const passed = () => report({ threw: false, name: '', message: '' })
  const failed = (thrown) => {
    const isObject = (typeof thrown === 'object' && thrown !== null) || typeof thrown === 'function'
    const name = isObject ? text(() => thrown.constructor.name) : ''
    const message = isObject && text(() => typeof thrown.message) === 'string' ? text(() => thrown.message) : text(() => thrown)
    report({ threw: true, name, message })
  }
  for (let i = 0; i < ${harnessFiles}; i += 1) run(i)
  apply(then, next(), [() => {
    const ended = evaluate(${TEST_SCRIPT})
    const value = take()
    if (ended === ${EVALUATED.thrown}) failed(value)
    else if (ended === ${EVALUATED.promise} && ${isModule}) apply(then, value, [passed, failed])
    else passed()
  }])
  return new Promise(() => {})
})()`
}
