/** `files.*`: a granted directory, as a program sees it. */
import { CaissonError } from '../../src/base/errors.ts'
import { checkOptions, type OptionChecks, trueOrFalse, withMethods } from '../../src/base/option-checks.ts'
import type { Capability } from '../../src/capability/capability.ts'
import { defineBinding } from '../define-binding.ts'
import { either, list, object } from '../schema/composites.ts'
import { binary, integer, nothing, number, oneOf, text } from '../schema/scalars.ts'
import { MAX_PATH_LENGTH, parseFilePath, showPath } from './file-path.ts'
import { type FileTree, MAX_LISTED } from './file-tree.ts'

/** Which directory, and how much of it. */
export interface FileOptions {
  readonly tree: FileTree
  /** True adds `files.write`, `files.mkdir` and `files.remove`. The tree must be writable too. Default false. */
  readonly write?: boolean
}

const FILE_TREE = 'a file tree, as createMemoryFileTree and openDirectoryFileTree give'
const OPTIONS: OptionChecks<FileOptions> = {
  tree: withMethods(FILE_TREE, 'read', 'stat', 'list', 'write', 'remove', 'mkdir'),
  write: trueOrFalse,
}
const TIMEOUT_MS = 30_000
/** A schema must be finite; the tree's quota is what really bounds a file. */
const MAX_BYTES = 1024 * 1024 * 1024

const path = text({
  minLength: 1,
  maxLength: MAX_PATH_LENGTH,
  description:
    'Relative to the granted directory, with "/": "reports/2026.csv". "." is the directory itself.',
})
const size = integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Bytes.' })
const kind = oneOf(['file', 'directory'])
const READ_ERRORS = ['path_denied', 'not_found', 'result_too_large', 'quota_exceeded'] as const
const WRITE_ERRORS = ['path_denied', 'not_found', 'quota_exceeded', 'denied', 'already_exists'] as const

/**
 * The capabilities `files.read`, `files.readText`, `files.list` and `files.stat`, and with `write` those that change.
 * @throws CaissonError `invalid_argument` for what is no file tree, a promise of one too
 */
export function createFileCapabilities(options: FileOptions): readonly Capability[] {
  checkOptions(options, OPTIONS, ['tree'])
  const { tree, write = false } = options
  return write ? [...readers(tree), ...writers(tree)] : readers(tree)
}

function readers(tree: FileTree): readonly Capability[] {
  return [
    defineBinding({
      name: 'files.read',
      description:
        'Reads a file as bytes (Uint8Array): `await files.read({ path: "logo.png" })`. Large files in parts with `offset` and `length`.',
      effect: 'read',
      timeoutMs: TIMEOUT_MS,
      input: object({ path }, { offset: size, length: size }),
      output: binary({ maxBytes: MAX_BYTES }),
      expose: READ_ERRORS,
      invoke: (input) => {
        if (input.offset === undefined && input.length === undefined) return tree.read(input.path)
        return tree.read(input.path, {
          offset: input.offset ?? 0,
          length: input.length ?? Number.MAX_SAFE_INTEGER,
        })
      },
    }),
    defineBinding({
      name: 'files.readText',
      description:
        'Reads a UTF-8 text file as a string: `await files.readText({ path: "data.csv" })`. A byte order mark is left out.',
      effect: 'read',
      timeoutMs: TIMEOUT_MS,
      input: object({ path }),
      output: text({ maxLength: MAX_BYTES }),
      expose: [...READ_ERRORS, 'invalid_result'],
      invoke: async (input) => decodeText(await tree.read(input.path)),
    }),
    defineBinding({
      name: 'files.list',
      description:
        'Lists a directory by name: `await files.list({ path: "." })` gives `[{ name, kind, bytes }]`, kind "file" or "directory".',
      effect: 'read',
      timeoutMs: TIMEOUT_MS,
      input: object({ path }),
      output: list(object({ name: text({ maxLength: 255 }), kind, bytes: size }), { maxItems: MAX_LISTED }),
      expose: READ_ERRORS,
      invoke: (input) => tree.list(input.path),
    }),
    defineBinding({
      name: 'files.stat',
      description:
        'What stands at a path: `await files.stat({ path })` gives `{ kind, bytes, modifiedMs }`, or null where there is nothing.',
      effect: 'read',
      timeoutMs: TIMEOUT_MS,
      input: object({ path }),
      output: either(nothing, object({ kind, bytes: size, modifiedMs: number() })),
      expose: READ_ERRORS,
      invoke: async (input) => {
        try {
          return await tree.stat(input.path)
        } catch (error) {
          if (CaissonError.is(error, 'not_found')) return null
          throw error
        }
      },
    }),
  ]
}

function writers(tree: FileTree): readonly Capability[] {
  return [
    defineBinding({
      name: 'files.write',
      description:
        'Creates or replaces a file, whole or not at all, with text (as UTF-8) or bytes: `await files.write({ path: "out.csv", data })`. The directory must exist.',
      effect: 'write',
      idempotent: true,
      timeoutMs: TIMEOUT_MS,
      input: object({ path, data: either(text({ maxLength: MAX_BYTES }), binary({ maxBytes: MAX_BYTES })) }),
      output: object({ bytes: size }),
      expose: WRITE_ERRORS,
      invoke: async (input) => {
        const data = typeof input.data === 'string' ? new TextEncoder().encode(input.data) : input.data
        try {
          await tree.write(input.path, data)
        } catch (error) {
          throw CaissonError.is(error, 'not_found') ? missingDirectory(input.path, error) : error
        }
        return { bytes: data.byteLength }
      },
    }),
    defineBinding({
      name: 'files.mkdir',
      description:
        'Creates a directory and those above it; fine where it exists already: `await files.mkdir({ path: "reports/2026" })`.',
      effect: 'write',
      idempotent: true,
      timeoutMs: TIMEOUT_MS,
      input: object({ path }),
      output: nothing,
      expose: WRITE_ERRORS,
      invoke: async (input) => {
        await tree.mkdir(input.path)
        return null
      },
    }),
    defineBinding({
      name: 'files.remove',
      description:
        'Removes a file or an empty directory, for good: `await files.remove({ path: "old.csv" })`.',
      effect: 'destructive',
      timeoutMs: TIMEOUT_MS,
      input: object({ path }),
      output: nothing,
      expose: WRITE_ERRORS,
      invoke: async (input) => {
        await tree.remove(input.path)
        return null
      },
    }),
  ]
}

/** A file that is written need not exist; so what was not found is its directory. */
function missingDirectory(path: string, cause: CaissonError): CaissonError {
  const directory = parseFilePath(path).slice(0, -1).join('/')
  return new CaissonError(
    'not_found',
    `There is no directory ${showPath(directory)}; make it first: await files.mkdir({ path: ${showPath(directory)} }).`,
    { details: { directory }, cause },
  )
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new CaissonError(
      'invalid_result',
      'The file is not UTF-8 text; read it as bytes with files.read.',
      {
        cause,
      },
    )
  }
}
