/**
 * What a page downloads, compressed with gzip: the browser entry with all that it imports, and the one
 * engine profile that this browser uses.
 */
const inFull = (config) => ({
  ...config,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  loader: { '.wasm': 'copy' },
  // Fetched when the first TypeScript is run, when the first plan is read from text, by who has
  // telemetry, with the first component and the first module, and with the first plan that names some.
  external: [
    '*/engines/typescript.js',
    'yaml',
    '*/guarded-telemetry.js',
    '*/traced-gate.js',
    '*/components/component-opener.js',
    '*/components/component-runs.js',
    '*/component/wit-value.js',
    '*/wasm-check.js',
    '*/plan-guests.js',
    '*/wasi/module-runs.js',
    '*/wasi/wasi-source.js',
  ],
})

const without = (config, ...files) => ({ ...config, external: [...config.external, ...files] })

/** While plans are run. */
const withRunner = (config) => without(inFull(config), '*/past-runs.js')

/** Before a plan is run. */
const inPage = (config) => without(withRunner(config), '*/plans/plan-runs.js')

const COMPONENTS = ['*/components/component-opener.js', '*/components/component-runs.js']

/** Before a plan is run, when components are. */
const withComponents = (config) => {
  const page = inPage(config)
  return { ...page, external: page.external.filter((file) => !COMPONENTS.includes(file)) }
}

const code = 'dist/src/entry/browser.js'

const checks = [
  {
    name: 'browser: code and one engine',
    path: [code, 'dist/engines/current/v8.wasm'],
    gzip: true,
    limit: '500 kB',
    modifyEsbuildConfig: inPage,
  },
  // Of it, checkpoints and kept runs are about 20 kB, the library of guests 30, plans, their pictures and reports 30.
  { name: 'browser: code', path: code, gzip: true, limit: '197 kB', modifyEsbuildConfig: inPage },
  // A bundle that names nothing of plans has nothing of them.
  {
    name: 'browser: code of who only runs programs',
    path: code,
    import: '{ openRuntime, capability, grant }',
    gzip: true,
    limit: '168 kB',
    modifyEsbuildConfig: inPage,
  },
  // Fetched with the first plan that is run; it shares much with the code above, so it is told with it.
  {
    name: 'browser: code, with what runs plans',
    path: code,
    gzip: true,
    limit: '242 kB',
    modifyEsbuildConfig: withRunner,
  },
  // Fetched when a run is verified, forked, exported, imported, cut or erased.
  {
    name: 'browser: code, with all that is done with plans',
    path: code,
    gzip: true,
    limit: '260 kB',
    modifyEsbuildConfig: inFull,
  },
  {
    name: 'browser: components, with the first one',
    path: 'dist/src/runtime/components/component-opener.js',
    gzip: true,
    limit: '106 kB',
  },
  // What runs them to their ends, and keeps them, shares most of itself with the code above.
  {
    name: 'browser: code, with components that are run and kept',
    path: code,
    gzip: true,
    limit: '277 kB',
    modifyEsbuildConfig: withComponents,
  },
  {
    name: 'browser: WASI modules, with the first one',
    path: ['dist/src/runtime/wasi/module-runs.js', 'dist/host-bindings/wasi/wasi-source.js'],
    gzip: true,
    limit: '134 kB',
  },
  {
    name: 'browser: YAML, when a plan is first read from text',
    path: 'node_modules/yaml/browser/index.js',
    import: '{ Lexer, parseDocument, isMap, isScalar, isSeq }',
    gzip: true,
    limit: '40 kB',
  },
  {
    name: 'browser: TypeScript, when first run',
    path: 'dist/engines/typescript.js',
    gzip: true,
    limit: '25 kB',
  },
]

export default checks
