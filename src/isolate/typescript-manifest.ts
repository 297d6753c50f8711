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
  sha256: '24218dcc5e64e886301b2e12710c6bf348a7b9d21bdf4dfd041726f7e765c784',
  characters: 68607,
}
