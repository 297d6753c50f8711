/**
 * A suite of a dozen tests in the shape of test262, written for the tests of its runner: what must pass passes, and each
 * way in which a test can fail is there.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const HARNESS: Readonly<Record<string, string>> = {
  'assert.js': `
    function assert(value, message) { if (value !== true) throw new Test262Error(message) }
    assert.sameValue = (actual, expected) => assert(Object.is(actual, expected), actual + ' is not ' + expected)`,
  'sta.js': `
    function Test262Error(message) { this.message = message || '' }
    function $DONOTEVALUATE() { throw 'evaluated' }`,
  'doneprintHandle.js': `
    function $DONE(error) {
      print(error ? 'Test262:AsyncTestFailure:' + error.message : 'Test262:AsyncTestComplete')
    }`,
  'more.js': 'const more = 1',
}

/** A test by its front matter and its source. */
const test = (matter: string, source: string): string => `/*---\n${matter}\n---*/\n${source}`

/** Tests that pass in every guest. */
const PASS: Readonly<Record<string, string>> = {
  'script-scope.js': test(
    'description: declarations of a script are global\nflags: [noStrict]',
    `var v = 1; let l = 2; function f() {}
     assert.sameValue(Object.getOwnPropertyDescriptor(globalThis, 'v').configurable, false)
     assert.sameValue(typeof globalThis.l, 'undefined')
     $262.evalScript('assert.sameValue(l, 2); let other = 3')
     assert.sameValue(other, 3)`,
  ),
  'strict.js': test('flags: [onlyStrict]', 'assert.sameValue((function () { return this })(), undefined)'),
  'sloppy.js': test('flags: [noStrict]', 'assert.sameValue((function () { return this })(), globalThis)'),
  'both.js': test('description: both', 'assert.sameValue(1, 1)'),
  'raw.js': test('flags: [raw]', "if (typeof assert !== 'undefined') throw new Error('There is a harness.')"),
  'includes.js': test('includes:\n  - more.js\nfeatures: [let]', 'assert.sameValue(more, 1)'),
  'parse.js': test('negative:\n  phase: parse\n  type: SyntaxError', '$DONOTEVALUATE(); let a; let a;'),
  'runtime.js': test('negative:\n  phase: runtime\n  type: ReferenceError', 'unresolvable;'),
  'no-word-await.js': test(
    'flags: [noStrict]',
    'var await = 1; assert.sameValue(await, 1); (function () {})',
  ),
  'detach.js': test(
    'description: detached',
    'const b = new ArrayBuffer(8); $262.detachArrayBuffer(b); assert.sameValue(b.byteLength, 0)',
  ),
  'async.js': test(
    'flags: [async]',
    `const order = []
     Promise.resolve().then(() => order.push('a')).then(() => order.push('c'))
     ;(async () => {
       await null
       order.push('b')
       for await (const x of [1, 2]) order.push(x)
       const seen = new Map([[order, new WeakRef(order)]])
       await 0
       assert.sameValue(seen.get(order).deref().join(''), 'abc12')
     })().then(() => $DONE(), $DONE)`,
  ),
  'poisoned.js': test(
    'flags: [async]',
    `Promise.prototype.then = Array.prototype.map = JSON.stringify = () => { throw new Error('patched') }
     Object.defineProperty(Object.prototype, 'value', { set() { throw new Error('patched') }, configurable: true })
     ;(async () => { await 0; $DONE() })()`,
  ),
  'graph.js': test(
    'flags: [module, async]',
    `import { value, self } from './part_FIXTURE.js'
     import * as again from './graph.js'
     export let own = 1
     assert.sameValue(value + self().own, 3)
     import('./part_FIXTURE.js').then((late) => {
       assert(late.self() === again)
       return import('./missing_FIXTURE.js').then(() => assert(false, 'there is none'), () => 0)
     }).then($DONE, $DONE)`,
  ),
  'module.js': test('flags: [module]', 'export const x = await Promise.resolve(1); assert.sameValue(x, 1)'),
}

/** What a test imports. */
const PART = `import * as graph from './graph.js'
export const value = 2
export const self = () => graph`

/** Tests that fail, with a part of the reason. */
const FAIL: Readonly<Record<string, readonly [source: string, reason: string]>> = {
  'assertion.js': [test('flags: [noStrict]', 'assert.sameValue(1, 2)'), 'Test262Error: 1 is not 2'],
  'strict-only.js': [test('description: fails when strict', 'undeclared = 1'), 'ReferenceError'],
  'parses.js': [
    test('flags: [raw]\nnegative:\n  phase: parse\n  type: SyntaxError', '1'),
    'nothing was thrown',
  ],
  'late.js': [
    test('flags: [raw]\nnegative:\n  phase: parse\n  type: SyntaxError', "eval('let a; let a')"),
    'nothing was thrown',
  ],
  'early.js': [
    test('flags: [raw]\nnegative:\n  phase: runtime\n  type: SyntaxError', 'let a; let a'),
    'got in phase parse',
  ],
  'other-error.js': [
    test('flags: [raw]\nnegative:\n  phase: runtime\n  type: TypeError', 'unresolvable'),
    'ReferenceError',
  ],
  'never-done.js': [
    test('flags: [async, onlyStrict]', 'new Promise(() => {}).then($DONE)'),
    'It said 0 times',
  ],
  'done-twice.js': [test('flags: [async, onlyStrict]', '$DONE(); $DONE()'), 'It said 2 times'],
  'rejected.js': [
    test('flags: [async, onlyStrict]', "Promise.reject(new Error('no')).then($DONE, $DONE)"),
    'AsyncTestFailure:no',
  ],
  'module-rejected.js': [test('flags: [module]', "await 0; throw new RangeError('no')"), 'RangeError: no'],
  'hangs.js': [test('flags: [raw]', 'for (;;);'), 'exhausted its limit: fuel'],
  'thrown-value.js': [test('flags: [raw]', "throw Symbol('s')"), '[not to be read]'],
}

/** A test whose verdict depends on the metering: the engine alone throws, a metered guest ends. */
const CHANGES: Readonly<Record<string, string>> = {
  'depth.js': test('flags: [raw]', 'try { (function f() { f() })() } catch {}'),
}

/** A test that is not applicable. */
const SKIPPED: Readonly<Record<string, string>> = {
  'realm.js': test('features: [cross-realm]', '$262.createRealm()'),
}

export interface FixtureSuite {
  readonly folder: string
  readonly passing: readonly string[]
  /** Path, and a part of the reason. */
  readonly failing: ReadonlyMap<string, string>
  readonly changing: readonly string[]
  readonly skipped: readonly string[]
  readonly remove: () => void
}

/** Writes the suite as a checkout in the system's temporary folder. */
export function writeFixtureSuite(): FixtureSuite {
  const folder = mkdtempSync(join(tmpdir(), 'caisson-test262-'))
  const write = (under: string, files: Readonly<Record<string, string>>): readonly string[] =>
    Object.entries(files).map(([name, text]) => {
      const path = `${under}/${name}`
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
      return path
    })
  write('harness', HARNESS)
  write('test/pass', { 'part_FIXTURE.js': PART })
  write('test/fail', Object.fromEntries(Object.entries(FAIL).map(([name, [source]]) => [name, source])))
  return {
    folder,
    passing: write('test/pass', PASS),
    failing: new Map(Object.entries(FAIL).map(([name, [, reason]]) => [`test/fail/${name}`, reason])),
    changing: write('test/change', CHANGES),
    skipped: write('test/skip', SKIPPED),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
