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
  sha256: '772ee5d554f32cee08495f569cfae9688d9e7503b94686a36dcb0e5f15c40ddf',
  characters: 65516,
}
