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
  sha256: '1097a2eb15feff2d1ddbf9cccbd647c07cce2736a8b9e06aaa85b910a26d0417',
  characters: 92400,
}
