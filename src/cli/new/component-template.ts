/** What a new component begins with, the same in every language: its world, how it is built, what to do next. */

import { buildErrorsText } from './build-errors-text.ts'

/** A language that `caisson new component` knows. */
export interface ComponentTemplate {
  /** As people call it. */
  readonly language: string
  /** Installed by npm, with exact versions: the same that build the sample guests of this repository. */
  readonly packages: Readonly<Record<string, string>>
  /** What npm does not bring, as a command line. */
  readonly system?: string
  /** The file to edit, relative to the folder. */
  readonly source: string
  readonly sourceText: string
  /** A module that writes `component.wasm`. */
  readonly buildText: string
}

const WORLD = `package local:guest;

/// What this component needs from its host (imports), and what it offers (exports).
world guest {
  export run: func(input: string) -> result<string, string>;
}
`

/** Runs what was built, in the folder. */
export const RUN_COMPONENT = `npx caisson run component.wasm --input '["text"]'`

/**
 * @param name of the folder
 * @returns texts by path, relative to the folder
 */
export function componentFiles(name: string, template: ComponentTemplate): Readonly<Record<string, string>> {
  const manifest = {
    name,
    private: true,
    type: 'module',
    scripts: { build: 'node build.mjs' },
    devDependencies: template.packages,
  }
  return {
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    'world.wit': WORLD,
    [template.source]: template.sourceText,
    'build.mjs': template.buildText,
    'build-errors.mjs': buildErrorsText(template.source, template.system),
    '.gitignore': 'node_modules\n*.wasm\n',
    'README.md': readme(name, template),
  }
}

function readme(name: string, { language, source, system }: ComponentTemplate): string {
  const needed = system === undefined ? '' : `${system}    # Debian, Ubuntu\n`
  return `# ${name}

A WASI 0.2 component in ${language}.

\`\`\`sh
${needed}npm install
npm run build      # writes component.wasm
\`\`\`

Where Caisson is installed, in this folder or in one above it, the command line runs it. \`--input\` is the list of its
arguments; functions that it imports are those of \`--tools MODULE\`:

\`\`\`sh
${RUN_COMPONENT}
\`\`\`

- \`world.wit\`: what the component needs and offers. It exports \`run\`, which takes a text and returns a text, or a
  text that says what went wrong.
- \`${source}\`: what it does.
- \`build.mjs\`: how it is built. \`build-errors.mjs\`: what is said where it cannot be.

So does a program:

\`\`\`js
import { readFile } from 'node:fs/promises'
import { openRuntime } from 'caisson'

const runtime = await openRuntime()
const component = await runtime.openComponent(await readFile('${name}/component.wasm'))
console.log(await component.call('run', ['text'])) // its value is { tag: 'ok', val } or { tag: 'err', val }
await runtime.close()
\`\`\`
`
}

/** The last part of a build: a component out of the core module `core`. */
export function wrapText(embedOptions: string): string {
  return `  // The types of world.wit are written into the core module, which is then wrapped for them.
  const { componentEmbed, componentNew } = await import('@bytecodealliance/jco-transpile/wasm-tools')
  const embedded = await componentEmbed({
    binary: core,
    witSource: readFileSync('world.wit', 'utf8'),
    world: 'guest',${embedOptions}
  })
  writeFileSync('component.wasm', await componentNew(embedded, []))
`
}
