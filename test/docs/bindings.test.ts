/**
 * docs/bindings.md has every binding with its arguments, effect, timeout and errors, and every option. That its
 * examples run is tested with those of all pages (snippets.test.ts).
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { parseDuration } from '../../src/cli/units/parse-duration.ts'
import * as bindings from '../../src/entry/bindings.node.ts'
import { type Capability, inputJsonSchemaOf } from '../../src/entry/node.ts'
import { ROOT } from './documented-pages.ts'
import { allRows } from './markdown-table.ts'

const page = readFileSync(join(ROOT, 'docs/bindings.md'), 'utf8')
const rows = allRows(page)
const inTicks = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)

const capabilities: readonly Capability[] = [
  ...bindings.createClockCapabilities(),
  ...bindings.createRandomCapabilities(),
  ...bindings.createKeyValueCapabilities(),
  ...bindings.createFileCapabilities({ tree: bindings.createMemoryFileTree(), write: true }),
  ...bindings.createNodeFetchCapabilities({ allow: ['example.com'] }),
  ...bindings.createArtifactCapabilities(),
  ...bindings.createSqlCapabilities({
    database: { transaction: () => Promise.reject(new Error('none')) },
    write: 'rows',
  }),
  ...bindings.createApprovalCapabilities(),
]

/** As the page writes a call: `name({ needed, optional? })`. */
function callOf(capability: Capability): string {
  const { properties, required } = inputJsonSchemaOf(capability) as {
    properties: object
    required?: readonly string[]
  }
  const names = Object.keys(properties).map((name) => (required?.includes(name) ? name : `${name}?`))
  return `${capability.name}(${names.length === 0 ? '{}' : `{ ${names.join(', ')} }`})`
}

describe('the capabilities of docs/bindings.md', () => {
  const told = rows.filter((row) => row.length === 5 && row[0] !== 'call')

  it('are those that there are, with their arguments', () => {
    expect(told.map(([call = '']) => inTicks(call)[0])).toEqual(capabilities.map(callOf))
  })

  it.each(capabilities.map((capability, i) => [capability.name, capability, told[i] ?? []] as const))(
    '%s has its effect, timeout and errors',
    (_name, capability, [, , effect = '', timeout = '', errors = '']) => {
      expect(effect).toMatch(new RegExp(`^${capability.effect}\\b`))
      expect(timeout === 'at once' ? undefined : parseDuration('timeout', timeout)).toBe(capability.timeoutMs)
      expect(timeout === 'at once').toBe(capability.sync === true)
      expect(inTicks(errors)).toEqual(capability.expose ?? [])
    },
  )
})

/** The options that a documented function takes, by the interface that declares them. */
const INTERFACES: Readonly<Record<string, readonly (readonly [file: string, name: string])[]>> = {
  createClockCapabilities: [['clock/clock-capabilities.ts', 'ClockOptions']],
  createRandomCapabilities: [['random/random-capabilities.ts', 'RandomOptions']],
  createKeyValueCapabilities: [['kv/key-value-capabilities.ts', 'KeyValueOptions']],
  createMemoryKeyValueStore: [['kv/key-value-store.ts', 'KeyValueQuota']],
  createFileCapabilities: [['files/file-capabilities.ts', 'FileOptions']],
  createMemoryFileTree: [['files/memory-file-tree.ts', 'MemoryFileTreeOptions']],
  openDirectoryFileTree: [['files/node/directory-file-tree.node.ts', 'DirectoryFileTreeOptions']],
  quota: [['files/file-quota.ts', 'FileQuota']],
  createNodeFetchCapabilities: [
    ['fetch/fetch-options.ts', 'FetchOptions'],
    ['fetch/node/node-transport.node.ts', 'NodeTransportOptions'],
  ],
  createWebFetchCapabilities: [['fetch/web-fetch-capabilities.ts', 'WebFetchOptions']],
  createArtifactCapabilities: [['artifacts/artifact-capabilities.ts', 'ArtifactOptions']],
  createArtifactStore: [['artifacts/artifact-store.ts', 'ArtifactStoreOptions']],
  createSqlCapabilities: [['sql/sql-capabilities.ts', 'SqlOptions']],
  createMemoryRunStore: [['store/memory-run-store.ts', 'MemoryRunStoreOptions']],
  openIndexedDbRunStore: [['store/indexed-db-run-store.ts', 'IndexedDbRunStoreOptions']],
  createIndexedDbPreparedStore: [['prepared/indexed-db-prepared-store.ts', 'IndexedDbPreparedStoreOptions']],
  createMemoryCallLog: [['call-log/memory-call-log.ts', 'MemoryCallLogOptions']],
}

function propertiesOf(file: string, name: string): readonly string[] {
  const path = join(ROOT, 'host-bindings', file)
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest)
  const found = source.statements.find(
    (statement): statement is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(statement) && statement.name.text === name,
  )
  return (found?.members ?? []).map((member) => (member.name as ts.Identifier).text)
}

describe('the options of docs/bindings.md', () => {
  /** Option names by the function in the head of their table. */
  const tables = new Map<string, string[]>()
  let current: string[] | undefined
  for (const [first = ''] of rows) {
    const owner = /option of `(\w+)`/.exec(first)?.[1]
    if (owner !== undefined || first === 'call') current = owner === undefined ? undefined : []
    else current?.push(...inTicks(first))
    if (owner !== undefined && current !== undefined) tables.set(owner, current)
  }

  it('are told for every function that has some', () => {
    expect([...tables.keys()]).toEqual(Object.keys(INTERFACES))
    for (const name of Object.keys(INTERFACES)) if (name !== 'quota') expect(bindings).toHaveProperty(name)
  })

  it.each(Object.entries(INTERFACES))('of %s are those that it declares', (name, interfaces) => {
    const declared = interfaces.flatMap(([file, declaration]) => propertiesOf(file, declaration))
    expect(declared.length).toBeGreaterThan(0)
    expect(tables.get(name)).toEqual(declared)
  })
})
