/** Nodes that are WebAssembly: WASI modules and components. See `node-kinds.ts`. */
import { isDigest } from '../../base/digest.ts'
import type { GuestKind } from './guest-kind.ts'
import type { ComponentNode, ModuleNode, NodeWasi, PlanGrant, Template, WasmSource } from './plan.ts'
import { type PlanProblems, pointerTo } from './plan-problem.ts'
import { either, fields, list, oneOf, record, type Shape, text } from './shape.ts'

const MOST_ARGUMENTS = 1_000
const MOST_FILES = 1_000
/** Not beginning like what stands for a value in templates. */
const NAME = /^[^$=\0][^=\0]{0,199}$/

const WASM: Readonly<Record<string, Shape>> = {
  wasm: text(
    {
      min: 71,
      max: 71,
      pattern: /^sha256:[0-9a-f]{64}$/,
      what: 'the digest of WebAssembly, "sha256:" and 64 digits',
    },
    'The digest of its bytes.',
  ),
  file: text({ min: 1, max: 1_000 }, 'Path of the .wasm, relative to the plan.'),
}

const MOST_CALLS = 100
const CALL_TEXT: Shape = text({ max: 100_000 })

/** What `runModule` takes. */
const CALLS: Shape = list(
  fields(
    {
      name: text({ min: 1, max: 1_000 }, 'Of the export.'),
      args: list(
        either(
          [
            { holds: Array.isArray, shape: list(CALL_TEXT, { max: MOST_ARGUMENTS }) },
            { holds: (value) => typeof value === 'string', shape: CALL_TEXT },
          ],
          'a text or a list of texts',
        ),
        { max: 16 },
      ),
    },
    ['name', 'args'],
  ),
  { min: 1, max: MOST_CALLS },
)

const FORM: Shape = oneOf(['text', 'json', 'bytes'])

/** Relative, in its normal form, within the directory. */
function filePathProblem(path: string): string | undefined {
  const parts = path.split('/')
  const isPath =
    path.length <= 1_000 &&
    !path.startsWith('$') &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..')
  return isPath && !path.includes('\0')
    ? undefined
    : 'is no path of a file in the directory, such as "in/data.json"'
}

const FILE_PATHS = {
  pattern: '^(?![/$])(?!(?:.*/)?\\.{0,2}(?:/|$))[^\\0]{1,1000}$',
  problem: filePathProblem,
  max: MOST_FILES,
}

/** What a guest finds of WASI, and what of it is in the output. */
function worldMembers(template: Shape): Readonly<Record<string, Shape>> {
  return {
    args: list(template, { max: MOST_ARGUMENTS }),
    env: record(template, {
      pattern: NAME.source,
      problem: (name) => (NAME.test(name) ? undefined : 'is no name of a variable'),
      max: MOST_ARGUMENTS,
    }),
    stdin: template,
    files: record(template, FILE_PATHS),
    directory: text({
      min: 1,
      max: 1_000,
      pattern: /^\/(?:[^/\0]+(?:\/[^/\0]+)*)?$/,
      what: 'an absolute path, such as "/work"',
    }),
    writes: record(FORM, FILE_PATHS),
    stdout: FORM,
    exit: oneOf(['zero', 'any']),
  }
}

export const MODULE_KIND: GuestKind<ModuleNode> = {
  description: 'A WASI preview-1 command in a world of its own.',
  members: ({ template, grants, limits }) => ({
    ...WASM,
    entry: CALLS,
    startUp: CALLS,
    missing: oneOf(['refuse', 'trap']),
    ...worldMembers(template),
    grants,
    limits,
  }),
  required: [],
  check: checkWasm,
  templates: ['args', 'env', 'stdin', 'files'],
  inputOf: ({ args = [], env = {}, stdin = null, files = {} }) => ({ args, env, stdin, files }),
  words: wasmWords,
  shown: [
    'entry',
    'startUp',
    'missing',
    'args',
    'env',
    'stdin',
    'files',
    'directory',
    'writes',
    'stdout',
    'exit',
  ],
  identityOf: ({
    kind,
    wasm = null,
    directory = '/',
    writes = {},
    stdout = 'text',
    exit = 'zero',
    grants = [],
    entry,
    startUp,
    missing = 'refuse',
  }) => ({
    kind,
    wasm,
    directory,
    writes,
    stdout,
    exit,
    ...granted(grants),
    ...(entry && { entry }),
    ...(startUp && { startUp }),
    ...(missing === 'trap' && { missing }),
  }),
}

export const COMPONENT_KIND: GuestKind<ComponentNode> = {
  description: 'One call of an export of a component.',
  members: ({ template, grants, limits }) => ({
    ...WASM,
    export: text({ min: 1, max: 1_000 }, 'Name of the function: "run", or "example:shop/prices#lookup".'),
    args: list(template, { max: MOST_ARGUMENTS }),
    wasi: fields(worldMembers(template), []),
    grants,
    limits,
  }),
  required: ['export'],
  check: checkWasm,
  templates: ['args', 'wasi'],
  inputOf: ({ args = [], wasi }) => (wasi === undefined ? args : { args, wasi: worldInput(wasi) }),
  words: (node) => `${node.export} of ${wasmWords(node)}`,
  shown: ['args', 'wasi'],
  identityOf: ({ kind, wasm = null, export: name, grants = [], wasi }) => ({
    kind,
    wasm,
    export: name,
    ...granted(grants),
    // One without is what it was before there was any.
    ...(wasi && { wasi: worldIdentity(wasi) }),
  }),
}

/** What is evaluated of it when the node starts. */
function worldInput({ args = [], env = {}, stdin = null, files = {} }: NodeWasi): Template {
  return { args, env, stdin, files }
}

/** The rest. */
function worldIdentity(wasi: NodeWasi): Template {
  const { directory = '/', writes = {}, stdout = 'text', exit = 'zero' } = wasi
  return { directory: hasDirectory(wasi) ? directory : null, writes, stdout, exit }
}

/** Whether a component finds a directory: only where something says so. */
export function hasDirectory({ files, directory, writes }: NodeWasi): boolean {
  return files !== undefined || directory !== undefined || writes !== undefined
}

/** What it may call is a part of what it does. One that may call nothing is what it was before there were grants. */
function granted(grants: readonly PlanGrant[]): { readonly grants?: Template } {
  return grants.length === 0 ? {} : { grants: grants as readonly Template[] }
}

function checkWasm(node: WasmSource, at: string, problems: PlanProblems): void {
  const given = (['wasm', 'file'] as const).filter((key) => node[key] !== undefined)
  if (given.length !== 1)
    problems.add(at, `needs exactly one of wasm, file, and has ${given.join(' and ') || 'none'}`)
  else if (node.wasm !== undefined && !isDigest(node.wasm))
    problems.add(pointerTo(at, 'wasm'), 'is no digest: "sha256:" and 64 digits')
}

/** @returns the file, or as much of the digest as people compare */
function wasmWords({ wasm, file }: WasmSource): string {
  return file ?? `${String(wasm).slice(0, 'sha256:'.length + 12)}…`
}
