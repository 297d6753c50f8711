/** The transpiler of this version. Written by `npm run build:typescript -- --accept`; do not edit by hand. */
export interface TypeScriptManifest {
  /** Version of the parser. */
  readonly sucrase: string
  /** Of the script, as UTF-8. */
  readonly sha256: string
  readonly characters: number
}

export const TYPESCRIPT_MANIFEST: TypeScriptManifest = {
  sucrase: '3.35.1',
  sha256: 'c620a99e0477a781984159236b05771687914e64684018633f25fdcca618d387',
  characters: 65409,
}
