/**
 * Imports and exports: what names only types has no counterpart at run time.
 *
 * As TypeScript does by itself (`isolatedModules`, without `verbatimModuleSyntax`): an imported name that the file
 * uses as a type only vanishes, and with its last name the whole import. `import 'x'` stays.
 */
import { IdentifierRole, isTopLevelDeclaration } from 'sucrase/dist/esm/parser/tokenizer/index.js'
import { ContextualKeyword as word } from 'sucrase/dist/esm/parser/tokenizer/keywords.js'
import { TokenType as tt } from 'sucrase/dist/esm/parser/tokenizer/types.js'
import type { Program } from './program.ts'
import { Refusal } from './refusal.ts'
import type { Rewriting } from './rewriting.ts'

/** A specifier between braces, by tokens. `end` is behind a comma, if there is one. */
interface Specifier {
  readonly start: number
  readonly end: number
  readonly isType: boolean
  /** What it is called outside of the braces' file, and inside of this one. */
  readonly left: string
  readonly right: string
}

export class Imports {
  readonly #program: Program
  readonly #rewriting: Rewriting
  /** Names that something at run time refers to. */
  readonly #used = new Set<string>()
  readonly #types = new Set<string>()
  readonly #values = new Set<string>()
  /** Tokens of statements that begin with `import type`. */
  readonly #importedAsTypes = new Set<number>()

  constructor(program: Program, rewriting: Rewriting) {
    this.#program = program
    this.#rewriting = rewriting
    if (!program.tokens.some(({ type }) => type === tt._import || type === tt._export)) return
    program.markShadowed(this.#importedNames())
    program.tokens.forEach((token, index) => {
      if (token.type !== tt.name) return
      const name = program.text(index)
      if (isTopLevelDeclaration(token)) {
        const isType = token.isType || this.#importedAsTypes.has(index)
        ;(isType ? this.#types : this.#values).add(name)
      }
      const { identifierRole } = token
      const refers =
        identifierRole === IdentifierRole.Access ||
        identifierRole === IdentifierRole.ObjectShorthand ||
        identifierRole === IdentifierRole.ExportAccess
      if (refers && !token.isType && !token.shadowsGlobal) this.#used.add(name)
    })
  }

  /**
   * A statement that begins with `import` or `export`.
   * @returns the token to go on with: behind the statement where nothing else is to be looked at
   */
  statement(start: number, end: number): number {
    const { is, says } = this.#asks
    if (is(start, tt._import)) {
      if (is(start + 1, tt.parenL) || is(start + 1, tt.dot)) return start + 1
      return this.#import(start, end)
    }
    const next = start + 1
    if (is(next, tt.eq)) {
      throw new Refusal(this.#program.startOf(start), '"export =" is of CommonJS', 'write "export default"')
    }
    if (is(next, tt._import)) {
      if (says(next + 1, word._type) && !is(next + 2, tt.eq)) return this.#erase(start, end)
      throw new Refusal(
        this.#program.startOf(start),
        '"export import" is not supported',
        'import the name, then write "export { name }"',
      )
    }
    if (says(next, word._as)) return this.#erase(start, end)
    if (says(next, word._type) && (is(next + 1, tt.braceL) || is(next + 1, tt.star))) {
      return this.#erase(start, end)
    }
    if (is(next, tt.braceL)) return this.#exportNames(start, end)
    if (is(next, tt._default) && this.#isOneType(next + 1, end)) return this.#erase(start, end)
    return next
  }

  get #asks(): {
    is: (index: number, type: number) => boolean
    says: (index: number, keyword: number) => boolean
  } {
    const program = this.#program
    return { is: (i, type) => program.is(i, type), says: (i, keyword) => program.says(i, keyword) }
  }

  #import(start: number, end: number): number {
    const { is } = this.#asks
    const program = this.#program
    const next = start + 1
    if (is(next, tt.name) && is(next + 1, tt.eq)) {
      const required = program.text(next + 2) === 'require' && is(next + 3, tt.parenL)
      const name = program.text(next)
      throw new Refusal(
        program.startOf(start),
        required ? '"import x = require()" is of CommonJS' : '"import x = a.b" is not supported',
        required ? `write "import ${name} from ${program.text(next + 4)}"` : `write "const ${name} = ..."`,
      )
    }
    if (this.#importsTypes(start)) return this.#erase(start, end)
    if (is(next, tt.string)) return end

    let at = next
    let kept = 0
    // Source ranges that go if anything stays.
    const cuts: (readonly [from: number, to: number])[] = []
    if (is(at, tt.name)) {
      const hasMore = is(at + 1, tt.comma)
      if (this.#isUsed(program.text(at))) kept += 1
      else cuts.push([program.startOf(at), program.endOf(hasMore ? at + 1 : at)])
      at += hasMore ? 2 : 1
    }
    if (is(at, tt.star)) {
      if (this.#isUsed(program.text(at + 2))) kept += 1
      else cuts.push([program.startOf(is(at - 1, tt.comma) ? at - 1 : at), program.endOf(at + 2)])
    } else if (is(at, tt.braceL)) {
      for (const { start: from, end: to, isType, right } of this.#specifiers(at)) {
        if (!isType && this.#isUsed(right)) kept += 1
        else cuts.push([program.startOf(from), program.endOf(to - 1)])
      }
    }
    // `import {} from 'x'` has no name that could be a type.
    if (kept === 0 && cuts.length > 0) return this.#erase(start, end)
    for (const [from, to] of cuts) this.#rewriting.blank(from, to)
    return end
  }

  /** Whether an import begins with `import type`: `import type from 'x'` imports something that is called `type`. */
  #importsTypes(start: number): boolean {
    const { is, says } = this.#asks
    const next = start + 1
    if (!says(next, word._type) || is(next + 1, tt.eq) || is(next + 1, tt.comma)) return false
    return !(says(next + 1, word._from) && is(next + 2, tt.string))
  }

  #exportNames(start: number, end: number): number {
    const program = this.#program
    const open = start + 1
    const close = program.closing(open)
    const isFrom = program.says(close + 1, word._from) && program.is(close + 2, tt.string)
    const specifiers = this.#specifiers(open)
    const gone = specifiers.filter(
      ({ isType, left }) => isType || (!isFrom && this.#types.has(left) && !this.#values.has(left)),
    )
    if (isFrom && gone.length > 0 && gone.length === specifiers.length) return this.#erase(start, end)
    for (const { start: from, end: to } of gone) {
      this.#rewriting.blank(program.startOf(from), program.endOf(to - 1))
    }
    return end
  }

  #erase(start: number, end: number): number {
    this.#rewriting.blank(this.#program.startOf(start), this.#program.endOf(end - 1), ';')
    return end
  }

  /** Whether a default export is one name, and that of a type of this file. */
  #isOneType(index: number, end: number): boolean {
    const last = this.#program.is(end - 1, tt.semi) ? end - 1 : end
    const name = this.#program.text(index)
    return last === index + 1 && this.#types.has(name) && !this.#values.has(name)
  }

  #isUsed(name: string): boolean {
    return this.#used.has(name)
  }

  #specifiers(open: number): readonly Specifier[] {
    const program = this.#program
    const close = program.closing(open)
    const found: Specifier[] = []
    let start = open + 1
    while (start < close) {
      let last = start
      while (last < close && !program.is(last, tt.comma)) last += 1
      const words = last - start
      // `a`, `type a`, `a as b`, `type a as b`: their number tells them apart, whatever the names are.
      const isType = words === 2 || words === 4
      const left = program.text(isType ? start + 1 : start)
      found.push({
        start,
        end: Math.min(last + 1, close),
        isType,
        left,
        right: program.text(last - 1),
      })
      start = last + 1
    }
    return found
  }

  #importedNames(): ReadonlySet<string> {
    const names = new Set<string>()
    const program = this.#program
    program.tokens.forEach((token, index) => {
      if (token.type !== tt._import || token.statementEnd === undefined) return
      const asTypes = this.#importsTypes(index)
      for (let at = index + 1; at < token.statementEnd; at++) {
        if (program.is(at, tt.name)) names.add(program.text(at))
        if (asTypes) this.#importedAsTypes.add(at)
      }
    })
    return names
  }
}
