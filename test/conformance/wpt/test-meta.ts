/** Reads the comments at the head of a test of web-platform-tests (`*.any.js`). */

export interface TestMeta {
  readonly title: string | undefined
  /** Scripts that are loaded before the test: paths from the root of the suite (`/`), or from the test's folder. */
  readonly scripts: readonly string[]
  /** Query strings with which the test is run, each time as a test of its own. One empty string if there are none. */
  readonly variants: readonly string[]
  /** Where the test is to run; empty for the default, a window and a dedicated worker. */
  readonly globals: readonly string[]
}

const LINE = /^\/\/\s*META:\s*(\w+)=(.*)$/

export function readTestMeta(source: string): TestMeta {
  const found: Record<string, string[]> = { title: [], script: [], variant: [], global: [] }
  for (const line of source.split(/\r?\n/)) {
    if (!line.startsWith('//') && line.trim() !== '') break
    const [, key = '', value = ''] = LINE.exec(line) ?? []
    found[key]?.push(value.trim())
  }
  const { title = [], script = [], variant = [], global = [] } = found
  return {
    title: title[0],
    scripts: script,
    variants: variant.length === 0 ? [''] : variant,
    globals: global.flatMap((names) => names.split(',')).map((name) => name.trim()),
  }
}
