/**
 * The step between a source as its author wrote it and the JavaScript that the engine parses. Every file of a program
 * takes it, the program itself too: another language than JavaScript is made JavaScript here.
 */
import type { GuestError } from '../machine/turn.ts'
import type { Places } from './original-place.ts'

export interface SourceFile {
  /** As stacks show it: what it ends with may say the language. */
  readonly name: string
  readonly source: string
}

export type PreparedSource =
  | {
      readonly code: string
      /** Where places in the code come from; left out where nothing moved. */
      readonly places?: Places
    }
  /** Why nothing can be made of it: the program ends with that. */
  | { readonly problem: GuestError }

export type PrepareSource = (file: SourceFile) => PreparedSource | Promise<PreparedSource>

/** JavaScript as it is. */
export const asItIs: PrepareSource = ({ source }) => ({ code: source })

const LONE_SURROGATE = /[\ud800-\udfff]/u

/** What keeps a source from reaching the engine whole, as the end of a sentence; undefined where nothing does. */
export function sourceProblem(source: string): string | undefined {
  // The engine reads UTF-8, which has no form for them: they would silently become other characters.
  const lone = source.search(LONE_SURROGATE)
  if (lone >= 0) return `it has a lone surrogate at index ${lone}: write it as an escape such as "\\ud800"`
  const nul = source.indexOf('\0')
  return nul < 0 ? undefined : `it has a NUL character at index ${nul}: write it as the escape "\\0"`
}
