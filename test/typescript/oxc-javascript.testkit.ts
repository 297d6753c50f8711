/** What another implementation makes of TypeScript: oxc's, as native code. */
import { transformSync } from 'oxc-transform'

/** @throws Error with what it does not take */
export function oxcJavascriptOf(typescript: string): string {
  const { code, errors } = transformSync('program.ts', typescript, { lang: 'ts', target: 'esnext' })
  if (errors[0] !== undefined) throw new Error(errors[0].message)
  return code
}
