/** What `caisson new component` does: a folder that was not there, with all that a first build needs. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { clipText } from '../../base/escape-text.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { jsonText } from '../render/json-text.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { ASSEMBLYSCRIPT_TEMPLATE } from './assemblyscript-template.ts'
import { C_TEMPLATE } from './c-template.ts'
import { type ComponentTemplate, componentFiles, RUN_COMPONENT } from './component-template.ts'
import { JAVASCRIPT_TEMPLATE } from './javascript-template.ts'

const TEMPLATES: ReadonlyMap<string, ComponentTemplate> = new Map([
  ['c', C_TEMPLATE],
  ['as', ASSEMBLYSCRIPT_TEMPLATE],
  ['js', JAVASCRIPT_TEMPLATE],
])

/** The language of examples: it needs nothing that npm does not bring. */
const EXAMPLE = 'caisson new component my-tool --lang as'

/** A name that npm takes too. */
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
const NAME_LENGTH = 64

/** @returns the exit code. @throws CliError */
export function makeComponentFolder(given: GivenFlags, io: CliIo): number {
  const [path = ''] = given.positionals
  const template = templateOf(given.value('lang'))
  const folder = resolve(io.cwd, path)
  const name = basename(folder)
  if (!NAME.test(name) || name.length > NAME_LENGTH) {
    throw usage(
      `"${clipText(name, 80)}" is no name for a component: small letters, digits and hyphens, ${NAME_LENGTH} at most.`,
      EXAMPLE,
    )
  }
  makeFolder(folder, path)
  const files = componentFiles(name, template)
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text, { flag: 'wx' })
  }
  const next = [`cd ${shellQuote(path)}`, ...(template.system === undefined ? [] : [template.system])]
  next.push('npm install', 'npm run build', RUN_COMPONENT)
  if (given.has('json')) {
    io.stdout.write(`${jsonText({ status: 'completed', folder, files: Object.keys(files), next })}\n`)
  } else {
    io.stdout.write(`Made ${path}, a component in ${template.language}. Next:\n\n`)
    for (const line of next) io.stdout.write(`  ${line}\n`)
  }
  return EXIT.done
}

function templateOf(given: string | undefined): ComponentTemplate {
  const template = given === undefined ? undefined : TEMPLATES.get(given)
  if (template !== undefined) return template
  const known = [...TEMPLATES].map(([short, { language }]) => `${short} (${language})`).join(', ')
  throw usage(
    given === undefined
      ? `In which language? --lang takes ${known}.`
      : `There is no template for "${clipText(given, 80)}"; --lang takes ${known}.`,
    EXAMPLE,
  )
}

/** A folder of its own: nothing of anybody is written over, also where two do it at the same time. */
function makeFolder(folder: string, shown: string): void {
  try {
    mkdirSync(dirname(folder), { recursive: true })
    mkdirSync(folder)
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    throw usage(
      exists
        ? `${clipText(shown, 200)} is there already.`
        : `The folder ${clipText(shown, 200)} cannot be made: ${(error as Error).message}`,
      'Name a folder that is not there.',
    )
  }
}

function usage(message: string, hint: string): CliError {
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint })
}
