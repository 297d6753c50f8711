/**
 * What a page downloads, compressed with gzip: the browser entry with all that it imports, and the one
 * engine profile that this browser uses.
 */
const inPage = (config) => ({
  ...config,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  loader: { '.wasm': 'copy' },
  // Fetched when the first TypeScript is run, and when the first plan is read from text.
  external: ['*/engines/typescript.js', 'yaml'],
})

const code = 'dist/src/entry/browser.js'

const checks = [
  {
    name: 'browser: code and one engine',
    path: [code, 'dist/engines/current/v8.wasm'],
    gzip: true,
    limit: '535 kB',
    modifyEsbuildConfig: inPage,
  },
  // Of it, checkpoints and kept runs are about 20 kB, the library of guests 30, plans and their pictures 16.
  { name: 'browser: code', path: code, gzip: true, limit: '228 kB', modifyEsbuildConfig: inPage },
  // Who makes no plans of a bundle has none of them.
  {
    name: 'browser: code of who only runs programs',
    path: code,
    import: '{ openRuntime, capability, grant }',
    gzip: true,
    limit: '215 kB',
    modifyEsbuildConfig: inPage,
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
