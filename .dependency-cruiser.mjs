/**
 * The direction of imports, checked with type imports included (`npm run verify`, step "layers").
 *
 * A layer may import itself and what stands before it, never what stands after. Tests may import
 * anything; what they import is not shipped.
 */

/** From the ground up. The order of docs/architecture.md. */
const LAYERS = [
  'base',
  'ports',
  'values',
  'wasm',
  'capability',
  'machine',
  'snapshot',
  'program',
  'isolate',
  'component',
  'journal',
  'graph',
  'agent',
  'runtime',
  'adapters',
  'entry',
  'cli',
]

const TESTS = '\\.(test|testkit|contract)\\.ts$'

/** One rule per layer: it must not import a layer that stands after it. */
const upward = LAYERS.slice(0, -1).map((layer, index) => ({
  name: `layer-${layer}`,
  comment: `src/${layer} stands below ${LAYERS.slice(index + 1).join(', ')} and must not import them.`,
  severity: 'error',
  from: { path: `^src/${layer}/`, pathNot: TESTS },
  to: { path: `^src/(${LAYERS.slice(index + 1).join('|')})/` },
}))

/** @type {import('dependency-cruiser').IConfiguration} */
const configuration = {
  forbidden: [
    ...upward,
    {
      name: 'known-layer',
      comment: 'Every folder in src is a layer with a place in the order; add it to LAYERS.',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(${LAYERS.join('|')})/` },
      to: {},
    },
    {
      name: 'guests-apart',
      comment: 'Isolates and components are two implementations of the same contract and never meet.',
      severity: 'error',
      from: { path: '^src/(isolate|component)/', pathNot: TESTS },
      to: { path: '^src/(isolate|component)/', pathNot: '^src/$1/' },
    },
    {
      name: 'ports-are-interfaces',
      comment: 'A port is types only: it imports nothing at run time.',
      severity: 'error',
      from: { path: '^src/ports/', pathNot: TESTS },
      to: { dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'bindings-see-little',
      comment: 'Host bindings implement ports and capabilities: they import ports, base and values.',
      severity: 'error',
      from: { path: '^host-bindings/', pathNot: TESTS },
      to: { path: '^src/', pathNot: '^src/(base|ports|values|capability)/' },
    },
    {
      name: 'bindings-see-capability-types',
      comment: 'Of the capability layer, host bindings see the types only.',
      severity: 'error',
      from: { path: '^host-bindings/', pathNot: TESTS },
      to: { path: '^src/capability/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'bindings-from-the-top',
      comment: 'Only composition roots choose implementations: entry, cli and adapters.',
      severity: 'error',
      from: { path: '^src/', pathNot: [TESTS, '^src/(entry|cli|adapters)/'] },
      to: { path: '^host-bindings/' },
    },
    {
      name: 'neutral-core',
      comment:
        'The core runs in pages and edge workers: node:* only in host-bindings, src/cli, src/entry/*node.ts.',
      severity: 'error',
      from: {
        path: '^(src|guest)/',
        pathNot: [TESTS, '^src/cli/', '^src/entry/node\\.ts$', '^src/entry/[^/]+\\.node\\.ts$'],
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'shipped-code-stands-alone',
      comment: 'What is published never imports tests, benches, scripts or examples.',
      severity: 'error',
      from: { path: '^(src|host-bindings|guest)/', pathNot: TESTS },
      to: { path: ['^(test|bench|scripts|examples)/', TESTS] },
    },
    {
      name: 'declared-dependencies',
      comment:
        'What is published imports only what package.json declares for it; what a build takes in is in it.',
      severity: 'error',
      from: { path: '^(src|host-bindings|guest)/', pathNot: [TESTS, '^guest/typescript/'] },
      // An optional peer is a development dependency here too; types are not published.
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        pathNot: '^node_modules/(@types/)?(esbuild|better-sqlite3|pg|binaryen)/',
      },
    },
    {
      name: 'resolvable',
      comment: 'Every import leads to a file.',
      severity: 'error',
      from: {},
      // An engine that an edge worker imports is put there by its bundler.
      to: { couldNotResolve: true, pathNot: '\\.wasm$|^@bytecodealliance/preview2-shim/' },
    },
    {
      name: 'no-cycles',
      comment: 'A cycle is one concept in several files, or two that must be told apart.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|engines|bench/thirdparty|guest/samples|\\.cache)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
}

export default configuration
