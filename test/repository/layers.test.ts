import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** A small tree in which everything that is imported exists. */
const GROUND: Readonly<Record<string, string>> = {
  'package.json': '{"type":"module","devDependencies":{"vitest":"*"},"dependencies":{}}',
  'tsconfig.json':
    '{"compilerOptions":{"module":"NodeNext","allowImportingTsExtensions":true,"noEmit":true}}',
  'src/base/errors.ts': 'export const e = 1',
  'src/ports/clock.ts': 'export interface Clock { now: number }',
  'src/capability/capability.ts': 'export interface Capability { name: string }; export const define = 1',
  'src/machine/turn.ts': 'export interface Turn { n: number }',
  'src/isolate/isolate.ts': 'export const isolate = 1',
  'src/component/component.ts': 'export const component = 1',
  'host-bindings/clock/clock.ts': 'export const clock = 1',
  'src/machine/n.ts': "import type { M } from './m.ts'; export interface N { m: M }",
  'test/kit.ts': 'export const kit = 1',
}

/** Each file breaks the rules named, and no other. */
const BROKEN: readonly (readonly [file: string, source: string, rules: readonly string[]])[] = [
  ['src/base/a.ts', "import '../ports/clock.ts'", ['layer-base']],
  [
    'src/capability/b.ts',
    "import type { Turn } from '../machine/turn.ts'; export type T = Turn",
    ['layer-capability'],
  ],
  ['src/isolate/c.ts', "import '../component/component.ts'", ['guests-apart', 'layer-isolate']],
  ['src/component/d.ts', "import '../isolate/isolate.ts'", ['guests-apart']],
  ['src/ports/e.ts', "import '../base/errors.ts'", ['ports-are-interfaces']],
  ['src/machine/f.ts', "import '../../host-bindings/clock/clock.ts'", ['bindings-from-the-top']],
  ['src/machine/g.ts', "import 'node:fs'", ['neutral-core']],
  ['src/entry/browser.ts', "import 'node:fs'", ['neutral-core']],
  ['src/machine/h.ts', "import '../../test/kit.ts'", ['shipped-code-stands-alone']],
  ['src/machine/i.ts', "import './i.test.ts'", ['shipped-code-stands-alone']],
  ['src/helpers/j.ts', "import '../base/errors.ts'", ['known-layer']],
  ['src/machine/k.ts', "import 'vitest'", ['declared-dependencies']],
  ['src/machine/l.ts', "import './gone.ts'", ['resolvable']],
  ['src/machine/m.ts', "import type { N } from './n.ts'; export interface M { n: N }", ['no-cycles']],
  ['host-bindings/o.ts', "import '../src/machine/turn.ts'", ['bindings-see-little']],
  [
    'host-bindings/p.ts',
    "import { define } from '../src/capability/capability.ts'; define",
    ['bindings-see-capability-types'],
  ],
]

/** These look alike and are right. */
const RIGHT: readonly (readonly [file: string, source: string])[] = [
  ['src/ports/q.ts', "import type { e } from '../base/errors.ts'; export type E = typeof e"],
  ['src/machine/r.ts', "import '../base/errors.ts'"],
  ['src/entry/node.ts', "import 'node:fs'; import '../../host-bindings/clock/clock.ts'"],
  ['src/entry/worker.node.ts', "import 'node:worker_threads'"],
  ['src/cli/s.ts', "import 'node:fs'; import '../entry/node.ts'"],
  [
    'src/machine/i.test.ts',
    "import 'node:fs'; import 'vitest'; import '../isolate/isolate.ts'; import '../../test/kit.ts'",
  ],
  [
    'host-bindings/t.ts',
    "import type { Capability } from '../src/capability/capability.ts'; export type C = Capability",
  ],
  ['host-bindings/u.ts', "import 'node:fs'; import '../src/base/errors.ts'"],
]

let tree = ''
const violations = new Map<string, Set<string>>()

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'caisson-layers-'))
  for (const [file, source] of [...Object.entries(GROUND), ...BROKEN, ...RIGHT]) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    writeFileSync(join(tree, file), `${source}\n`)
  }
  mkdirSync(join(tree, 'node_modules/vitest'), { recursive: true })
  writeFileSync(join(tree, 'node_modules/vitest/package.json'), '{"name":"vitest","main":"index.js"}')
  writeFileSync(join(tree, 'node_modules/vitest/index.js'), '')
  const program = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
  const args = [
    '--config',
    join(ROOT, '.dependency-cruiser.mjs'),
    '--output-type',
    'json',
    'src',
    'host-bindings',
    'test',
  ]
  const { stdout } = spawnSync(process.execPath, [program, ...args], { cwd: tree, encoding: 'utf8' })
  const report = JSON.parse(stdout) as { summary: { violations: { from: string; rule: { name: string } }[] } }
  for (const { from, rule } of report.summary.violations) {
    violations.set(from, (violations.get(from) ?? new Set()).add(rule.name))
  }
})
afterAll(() => rmSync(tree, { recursive: true, force: true }))

describe('the direction of imports', () => {
  it.each(BROKEN)('refuses %s: %s', (file, _source, rules) => {
    expect([...(violations.get(file) ?? [])].sort()).toEqual([...rules].sort())
  })

  it.each(RIGHT)('allows %s: %s', (file) => {
    expect([...(violations.get(file) ?? [])]).toEqual([])
  })
})
