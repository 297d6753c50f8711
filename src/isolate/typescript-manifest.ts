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
  sha256: '01bce3778f35808fc3a71bf2525159528d902427141b941d4554aedd02c21329',
  characters: 67623,
}
