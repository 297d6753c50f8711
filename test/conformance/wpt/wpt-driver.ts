/**
 * What runs in the guest before `testharness.js`: the few globals that its tests find everywhere, and a `fetch` that
 * reads files of the suite. Then the scripts, all in one turn, as a page has them; the results go to the host when the
 * harness says that all tests are done.
 */
import { adoptBox, EVALUATED } from '../script-evaluator.ts'

/** Host functions that the driver takes, in the order of the guest's capabilities. */
export const WPT_CALLS = ['adopt', 'evaluate', 'readFile', 'report', 'next'] as const

/** The global that lends the driver its functions, until it has taken them. */
export const WPT_HOLDER = 'webPlatformTests'

/** What the guest tells, one after the other. */
export type WptReport =
  | { readonly kind: 'result'; readonly name: string; readonly status: number; readonly message: string }
  /** All tests are done; `status` of the harness. */
  | { readonly kind: 'done'; readonly status: number; readonly message: string }
  /** A script of the suite could not be evaluated. */
  | { readonly kind: 'thrown'; readonly message: string }

/**
 * @param scripts how many there are, the test itself being the last
 * @param href where the test would be, in the suite's own server
 */
export function wptDriverSource(scripts: number, href: string): string {
  return `(() => {
  const { adopt, evaluate, readFile, report, next } = globalThis.${WPT_HOLDER}
  ${adoptBox(WPT_HOLDER)}
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  const [, origin, pathname, search] = /^(https?:\\/\\/[^/]+)([^?]*)(.*)$/.exec(${JSON.stringify(href)})
  define('self', globalThis)
  define('location', { href: ${JSON.stringify(href)}, origin, protocol: 'http:', host: origin.slice(7), hostname: origin.slice(7), port: '', pathname, search, hash: '' })
  define('GLOBAL', { isWindow: () => false, isWorker: () => false, isShadowRealm: () => false })
  const own = globalThis.fetch
  define('fetch', async (path, ...rest) => {
    const text = readFile(\`\${path}\`)
    if (text === undefined) {
      if (own === undefined) throw new TypeError('There is no such file in the suite.')
      return own(path, ...rest)
    }
    return new Response(text)
  })
  // Addresses of the suite are relative to the place of the test, which guests do not know: they take absolute ones.
  const resolved = ([url, ...rest]) => [typeof url === 'string' || typeof url === 'function' ? new URL(url, location.href).href : url, ...rest]
  const lazily = (name, make) => {
    const { get } = Object.getOwnPropertyDescriptor(globalThis, name)
    Object.defineProperty(globalThis, name, {
      configurable: true,
      enumerable: false,
      get() {
        get()
        define(name, make(globalThis[name]))
        return globalThis[name]
      },
      set: (value) => define(name, value),
    })
  }
  lazily('Request', (own) => new Proxy(own, {
    construct: (target, args, made) => Reflect.construct(target, args.length > 0 ? resolved(args) : args, made),
  }))
  lazily('Response', (own) => {
    own.redirect = new Proxy(own.redirect, {
      apply: (target, self, args) => Reflect.apply(target, self, args.length > 0 ? resolved(args) : args),
    })
    return own
  })
  const run = (script) => {
    const ended = evaluate(script)
    const value = take()
    if (ended === ${EVALUATED.thrown}) throw value
  }
  const say = (error) => {
    try {
      return \`\${error}\`
    } catch {
      return '[not to be read]'
    }
  }
  next().then(() => {
    try {
      for (let i = 0; i < ${scripts}; i += 1) {
        run(i)
        if (i > 0) continue
        add_completion_callback((tests, { status, message }) => {
          for (const test of tests) {
            report({ kind: 'result', name: say(test.name), status: test.status, message: say(test.message ?? '') })
          }
          report({ kind: 'done', status, message: say(message ?? '') })
        })
      }
    } catch (error) {
      report({ kind: 'thrown', message: say(error) })
    }
  })
  return new Promise(() => {})
})()`
}
