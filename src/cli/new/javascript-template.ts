/** A new component in JavaScript: the program, evaluated, inside of QuickJS. About a megabyte. */
import type { ComponentTemplate } from './component-template.ts'

export const JAVASCRIPT_TEMPLATE: ComponentTemplate = {
  language: 'JavaScript',
  packages: { 'componentize-qjs': '0.4.5' },
  source: 'component.js',
  sourceText: `/** A \`result\` is a return, or a throw of its error. Functions that the world imports are globals. */
export function run(input) {
  return 'Hello, ' + input
}
`,
  buildText: `import { readFileSync, writeFileSync } from 'node:fs'
import qjs from 'componentize-qjs'

const { component } = await qjs.componentize({
  witPath: 'world.wit',
  world: 'guest',
  jsSource: readFileSync('component.js', 'utf8'),
  optSize: true,
  sync: true,
  // What would need WASI traps instead of being imported.
  stubWasi: true,
})
writeFileSync('component.wasm', component)
`,
}
