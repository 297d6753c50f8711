/**
 * What a named defence is, and how one is taken out of a tree. The list is `test/defences.ts`.
 */

/** One guard in the code, and the tests that must notice when it is gone. */
export interface Defence {
  /** Short and unique, in kebab-case. */
  readonly name: string
  /** The attack that it holds off, in one sentence. */
  readonly against: string
  /** The file that has it, from the root of the repository. */
  readonly file: string
  /** Exact text in that file, found exactly once. */
  readonly find: string
  /** What stands in its place afterwards: code that compiles and lacks the defence. */
  readonly replace: string
  /** Test files that run without it; at least one of their tests must fail. */
  readonly tests: readonly string[]
  /** `true` where the tests may hang instead of failing, a missing deadline for example. */
  readonly mayHang?: boolean
  /** What must be built again for the tests to see the change. The engine is accepted with its new digest. */
  readonly rebuild?: 'engine' | 'package'
}

/** Why this defence cannot be taken out of this text as it says, or `undefined`. */
export function mismatch(defence: Defence, text: string): string | undefined {
  const count = text.split(defence.find).length - 1
  if (count === 0) return `${defence.file} no longer has the text of the defence`
  if (count > 1) return `${defence.file} has the text of the defence ${count} times; name a longer piece`
  return defence.find === defence.replace ? 'the replacement changes nothing' : undefined
}

/**
 * `text` without the defence.
 * @throws Error where `mismatch` has a reason
 */
export function takeOut(defence: Defence, text: string): string {
  const reason = mismatch(defence, text)
  if (reason !== undefined) throw new Error(`${defence.name}: ${reason}`)
  // A function, because `$&` and the like in a replacement string would be expanded.
  return text.replace(defence.find, () => defence.replace)
}
