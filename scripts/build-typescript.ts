/**
 * Builds what turns TypeScript into JavaScript in guests: `npm run build:typescript`.
 *
 * Bundles `guest/typescript` with sucrase's parser into one script, and writes it as a module that exports its text:
 * the same file works where a program is loaded from files, where it is bundled, and where nothing can be fetched.
 * The result must be what `src/isolate/typescript-manifest.ts` says; `--accept` rewrites that file.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'
import { TYPESCRIPT_MANIFEST, type TypeScriptManifest } from '../src/isolate/typescript-manifest.ts'
import { editSucrase, SUCRASE_VERSION, sucraseNotice } from './typescript/edit-sucrase.ts'

const root = new URL('..', import.meta.url)
const manifestFile = new URL('src/isolate/typescript-manifest.ts', root)
const output = new URL('engines/', root)

const { outputFiles } = await build({
  entryPoints: [new URL('guest/typescript/main.ts', root).pathname],
  bundle: true,
  write: false,
  format: 'iife',
  globalName: 'transpiler',
  platform: 'neutral',
  target: 'es2023',
  charset: 'ascii',
  legalComments: 'none',
  minify: true,
  plugins: [editSucrase],
})
// The value of the script is the function.
const source = `${outputFiles[0]?.text.trim()}transpiler.default`
const sha256 = createHash('sha256').update(source).digest('hex')
const manifest: TypeScriptManifest = { sucrase: SUCRASE_VERSION, sha256, characters: source.length }

if (process.argv.includes('--accept')) {
  writeFileSync(
    manifestFile,
    `/** The transpiler of this version. Written by \`npm run build:typescript -- --accept\`; do not edit by hand. */
export interface TypeScriptManifest {
  /** Version of the parser. */
  readonly sucrase: string
  /** Of the script, as UTF-8. */
  readonly sha256: string
  readonly characters: number
}

export const TYPESCRIPT_MANIFEST: TypeScriptManifest = {
  sucrase: '${manifest.sucrase}',
  sha256: '${manifest.sha256}',
  characters: ${manifest.characters},
}
`,
  )
} else if (TYPESCRIPT_MANIFEST.sha256 !== sha256) {
  throw new Error(
    'The built transpiler is not the one in src/isolate/typescript-manifest.ts. If the change was meant, run ' +
      '`npm run build:typescript -- --accept` and commit the file; if not, the build is not reproducible here.',
  )
}

mkdirSync(output, { recursive: true })
writeFileSync(
  new URL('typescript.js', output),
  `${sucraseNotice()}export const source = ${JSON.stringify(source)}\n`,
)
writeFileSync(
  new URL('typescript.d.ts', output),
  '/** The script of the transpiler. */\nexport declare const source: string\n',
)
console.log(`Transpiler of ${source.length} characters`)
