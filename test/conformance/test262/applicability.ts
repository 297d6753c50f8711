/**
 * Which tests of test262 are not applicable, and why: the one place where a test can be left out.
 *
 * A feature may be left out only where all of it is missing: its `absent` says what a guest lacks, and a test of ours
 * asks a guest. A feature that is there and wrong is not left out; its tests fail, and count.
 */
import type { Test262Test } from './scenario.ts'

/** What leaves tests out. */
export interface Exclusion {
  /** Shown in reports. */
  readonly because: string
  readonly applies: (test: Test262Test) => boolean
  /** For a feature: an expression that is `undefined`, or that no guest can parse. */
  readonly absent?: string
}

function feature(names: string, because: string, absent: string): Exclusion {
  const wanted = names.split(' ')
  return {
    because: `${wanted.join(', ')}: ${because}`,
    applies: ({ matter }) => matter.features.some((name) => wanted.includes(name)),
    absent,
  }
}

function without(names: string, because: string): Exclusion {
  const wanted = names.split(' ')
  return {
    because: `${wanted.join(', ')}: ${because}`,
    applies: ({ matter }) => matter.features.some((name) => wanted.includes(name)),
  }
}

function under(prefix: string, because: string): Exclusion {
  return { because: `${prefix}: ${because}`, applies: ({ path }) => path.startsWith(prefix) }
}

const NOT_IN_ENGINE = 'not in this build of the engine'
const PROPOSAL = 'a proposal that the engine does not have'

/** In the order in which they are asked; a test counts for the first that applies. */
export const EXCLUSIONS: readonly Exclusion[] = [
  under('test/intl402/', 'the engine has no Intl'),

  feature('Temporal', NOT_IN_ENGINE, 'globalThis.Temporal'),
  feature('Atomics Atomics.pause Atomics.waitAsync', NOT_IN_ENGINE, 'globalThis.Atomics'),
  feature('Array.fromAsync', NOT_IN_ENGINE, 'Array.fromAsync'),
  feature('explicit-resource-management', NOT_IN_ENGINE, 'globalThis.DisposableStack'),
  feature('uint8array-base64', NOT_IN_ENGINE, 'Uint8Array.fromBase64'),
  feature('json-parse-with-source', NOT_IN_ENGINE, 'JSON.rawJSON'),

  feature('ShadowRealm', PROPOSAL, 'globalThis.ShadowRealm'),
  feature('decorators', PROPOSAL, '@f class C {}'),
  feature('joint-iteration', PROPOSAL, 'Iterator.zip'),
  feature('iterator-chunking', PROPOSAL, 'Iterator.prototype.chunks'),
  feature('iterator-includes', PROPOSAL, 'Iterator.prototype.includes'),
  feature('Iterator.prototype.join', PROPOSAL, 'Iterator.prototype.join'),
  feature('await-dictionary', PROPOSAL, 'Promise.allKeyed'),
  feature('immutable-arraybuffer', PROPOSAL, 'ArrayBuffer.prototype.transferToImmutable'),
  feature('error-stack-accessor', PROPOSAL, "Object.getOwnPropertyDescriptor(Error.prototype, 'stack').get"),
  feature('legacy-regexp', PROPOSAL, 'RegExp.$1'),
  feature('source-phase-imports source-phase-imports-module-source', PROPOSAL, 'import.source("x")'),
  feature('import-defer export-defer', PROPOSAL, 'import.defer("x")'),

  without(
    'json-modules import-text import-bytes',
    "the engine's loader knows JavaScript alone; the host makes modules of JSON",
  ),
  without('tail-call-optimization', 'the engine keeps the frame of a call in tail position'),
  {
    because: 'cross-realm, $262.createRealm: a guest is one realm',
    applies: ({ matter, source }) =>
      matter.features.includes('cross-realm') || source.includes('$262.createRealm'),
  },
  without('IsHTMLDDA', 'a guest has nothing like document.all'),
  without('host-gc-required', 'nothing in a guest can ask for a collection ($262.gc)'),
]

/** What leaves the test out, or undefined where it has to be run. */
export function exclusionOf(test: Test262Test): Exclusion | undefined {
  return EXCLUSIONS.find(({ applies }) => applies(test))
}
