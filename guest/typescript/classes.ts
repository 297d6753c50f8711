/**
 * Members of classes: modifiers, declarations without a value, parameters that are properties.
 *
 * A member whose first word was erased begins with `;` instead: without it, `x = 1` before `public [key] = 2` or
 * `private *items()` would go on.
 */
import { IdentifierRole } from 'sucrase/dist/esm/parser/tokenizer/index.js'
import { ContextualKeyword as word } from 'sucrase/dist/esm/parser/tokenizer/keywords.js'
import { TokenType as tt } from 'sucrase/dist/esm/parser/tokenizer/types.js'
import type { Program } from './program.ts'
import { Refusal } from './refusal.ts'
import type { Rewriting } from './rewriting.ts'

/** Types of tokens that are modifiers which JavaScript does not have. */
export const ERASED_MODIFIERS: ReadonlySet<number> = new Set([
  tt._public,
  tt._protected,
  tt._private,
  tt._readonly,
  tt._override,
  tt._abstract,
  tt._declare,
])

/** Names of fields that mean something else where nothing but a name follows them. */
const WORDS_BEFORE_NAMES: ReadonlySet<string> = new Set(['get', 'set', 'static', 'async', 'accessor'])

/** Whether a token is a modifier that JavaScript does not have. */
export function isErasedModifier(type: number): boolean {
  return ERASED_MODIFIERS.has(type)
}

interface OpenClass {
  /** Token of the opening brace. */
  readonly open: number
  readonly hasSuper: boolean
}

export class Classes {
  readonly #program: Program
  readonly #rewriting: Rewriting
  readonly #classes = new Map<number, OpenClass>()

  constructor(program: Program, rewriting: Rewriting) {
    this.#program = program
    this.#rewriting = rewriting
  }

  /** A token `class`. */
  begin(index: number): void {
    const { tokens } = this.#program
    const id = tokens[index]?.contextId ?? -1
    let hasSuper = false
    for (let at = index + 1; at < tokens.length; at++) {
      const token = tokens[at]
      if (token?.type === tt._extends && !token.isType) hasSuper = true
      if (token?.type === tt.braceL && token.contextId === id) {
        this.#classes.set(id, { open: at, hasSuper })
        return
      }
    }
  }

  /** @returns the token to go on with: behind the member where it is gone */
  member(start: number, end: number): number {
    const program = this.#program
    const { tokens } = program
    if (program.endOfTypes(start, end) === end) return this.#erase(start, end)
    let name = start
    let gone = false
    while (name < end - 1 && isModifier(tokens[name]?.type ?? 0)) {
      const type = tokens[name]?.type
      if (type === tt._declare || type === tt._abstract) gone = true
      name += 1
    }
    if (gone) return this.#erase(start, end)
    this.#refuseAccessor(name)
    for (let at = start; at < name; at++) {
      const token = tokens[at]
      if (token === undefined || !isErasedModifier(token.type)) continue
      this.#rewriting.blank(token.start, token.end, at === start ? ';' : '')
    }
    if (this.#isFieldCalledLikeAWord(name, end)) {
      // `get: string` before `value() {}` would become a getter.
      this.#rewriting.blank(program.endOf(name), program.endOf(end - 1), ';')
      return end
    }
    if (program.says(name, word._constructor) || /^['"]constructor['"]$/.test(program.text(name))) {
      this.#constructorAt(name, end)
    }
    return name
  }

  /** A field with a type, no value, and such a name. */
  #isFieldCalledLikeAWord(name: number, end: number): boolean {
    const program = this.#program
    if (!WORDS_BEFORE_NAMES.has(program.text(name))) return false
    const behind = program.endOfTypes(name + 1, end)
    return behind > name + 1 && (behind === end || program.is(behind, tt.semi))
  }

  #erase(start: number, end: number): number {
    this.#rewriting.blank(this.#program.startOf(start), this.#program.endOf(end - 1), ';')
    return end
  }

  #refuseAccessor(index: number): void {
    const { tokens } = this.#program
    const token = tokens[index]
    const next = tokens[index + 1]
    if (token === undefined || next === undefined || !this.#program.says(index, word._accessor)) return
    const isWord =
      (next.contextId === token.contextId &&
        (next.identifierRole === IdentifierRole.ObjectKey || next.type === tt.bracketL)) ||
      next.type === tt.hash
    if (!isWord || this.#rewriting.breaksLine(token.end, next.start)) return
    throw new Refusal(
      token.start,
      '"accessor" fields are not supported: no engine runs them yet',
      'write a getter and a setter',
    )
  }

  #constructorAt(name: number, end: number): void {
    const program = this.#program
    const { tokens } = program
    let open = name + 1
    while (open < end && !program.is(open, tt.parenL)) open += 1
    const id = tokens[open]?.contextId ?? -1
    const properties: string[] = []
    let at = open
    for (; at < end && !(at > open && program.is(at, tt.parenR) && tokens[at]?.contextId === id); at++) {
      const before = tokens[at]
      const isStart = before?.contextId === id && (before.type === tt.parenL || before.type === tt.comma)
      if (!isStart || !isErasedModifier(tokens[at + 1]?.type ?? 0)) continue
      let property = at + 1
      while (isErasedModifier(tokens[property]?.type ?? 0)) property += 1
      if (!program.is(property, tt.name)) {
        throw new Refusal(
          program.startOf(at + 1),
          'a parameter property must be a name',
          'assign what is taken apart in the body of the constructor',
        )
      }
      properties.push(program.text(property))
    }
    if (properties.length === 0) return
    const body = program.endOfTypes(at + 1, end)
    const place = this.#classes.get(tokens[name]?.contextId ?? -1)
    if (place === undefined || !program.is(body, tt.braceL)) return
    this.#rewriting.insert(program.endOf(place.open), `${properties.join(';')};`)
    const code = properties.map((property) => `this.${property}=${property};`).join('')
    this.#rewriting.insert(program.endOf(this.#placeOfAssignments(body, end, place.hasSuper)), `;${code}`)
  }

  /** Token behind which a constructor's properties are assigned: its brace, its directives, or `super(...)`. */
  #placeOfAssignments(body: number, end: number, hasSuper: boolean): number {
    const program = this.#program
    let at = body + 1
    let last = body
    while (at < end - 1) {
      const statementEnd = program.tokens[at]?.statementEnd
      if (statementEnd === undefined) break
      const isDirective = program.is(at, tt.string) && statementEnd - at <= 2
      const isSuper = program.is(at, tt._super) && program.is(at + 1, tt.parenL)
      if (hasSuper && isSuper) return statementEnd - 1
      if (!hasSuper && !isDirective) break
      last = statementEnd - 1
      at = statementEnd
    }
    if (!hasSuper) return last
    throw new Refusal(
      program.startOf(body),
      'a constructor with parameter properties calls super(...) in a statement of its own',
      'call it there, or assign the properties yourself',
    )
  }
}

/** Whether a token can stand before the name of a member. */
function isModifier(type: number): boolean {
  return isErasedModifier(type) || type === tt._static
}
