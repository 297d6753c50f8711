/** A new component in JavaScript: the program, evaluated, inside of QuickJS. About a megabyte. */
import type { ComponentTemplate } from './component-template.ts'

export const JAVASCRIPT_TEMPLATE: ComponentTemplate = {
  language: 'JavaScript',
  packages: { 'componentize-qjs': '0.4.5' },
  source: 'component.js',
  sourceText: `/**
 * A \`result\` is a return, or a throw of its error. Functions that the world imports are globals; those of interfaces are
 * imported: \`import { lookup } from 'caisson:capabilities/prices'\`. None is awaited.
 */
export function run(input) {
  return 'Hello, ' + input
}
`,
  buildText: `import { readFileSync, writeFileSync } from 'node:fs'
import { tellErrors } from './build-errors.mjs'

await tellErrors(async () => {
  const { default: qjs } = await import('componentize-qjs')
  const { component } = await qjs.componentize({
    witPath: 'world.wit',
    world: 'guest',
    jsSource: readFileSync('component.js', 'utf8'),
    optSize: true,
    sync: true,
    // What would need WASI traps instead of being imported.
    stubWasi: true,
  })
  writeFileSync('component.wasm', withoutInit(component))
})

/**
 * The engine was given its program by an export \`init\`, which nobody needs any more. The section that exports it (11)
 * becomes a second alias (6), as the section before it: so everything else keeps its number.
 */
function withoutInit(bytes) {
  let last
  for (let at = 8; at < bytes.length; ) {
    let end = at + 1
    let size = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[end++]
      size |= (byte & 127) << shift
      if (byte < 128) break
    }
    end += size
    const section = bytes.subarray(at, end)
    const isInit = section.length < 20 && section.includes('\\x04init')
    if (section[0] === 11 && isInit && last !== undefined)
      return Buffer.concat([bytes.subarray(0, at), last, bytes.subarray(end)])
    last = section[0] === 6 && isInit ? section : undefined
    at = end
  }
  return bytes
}
`,
}
