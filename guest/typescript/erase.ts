/**
 * From TypeScript to the JavaScript that it stands for: what is only a type becomes blanks, enums and parameter
 * properties become code, what has no counterpart is refused by name.
 *
 * Invariants
 * 1. Nothing is left out silently that does something at run time.
 * 2. A statement ends where TypeScript ends it: what is erased leaves a `;` where the next line would be joined.
 * 3. A line stays the same line, and all columns before the first enum or parameter property of a line stay.
 */
import { isDeclaration } from 'sucrase/dist/esm/parser/tokenizer/index.js'
import { ContextualKeyword as word } from 'sucrase/dist/esm/parser/tokenizer/keywords.js'
import { TokenType as tt } from 'sucrase/dist/esm/parser/tokenizer/types.js'
import { Classes, ERASED_MODIFIERS, isErasedModifier } from './classes.ts'
import { Enums } from './enums.ts'
import { Imports } from './imports.ts'
import { declaresOnlyTypes, namespaceAt } from './namespaces.ts'
import type { Program, Token } from './program.ts'
import { Refusal } from './refusal.ts'
import type { Rewriting } from './rewriting.ts'

/** Tokens after which a line break would end the statement, or stand where none may. */
const KEEPS_LINE: ReadonlySet<number> = new Set([tt._return, tt._throw, tt._yield])

/** What goes on with the line before, if nothing ends it. */
const GOES_ON: ReadonlySet<number> = new Set([tt.parenL, tt.bracketL, tt.backQuote])

/** Tokens that are looked at wherever they stand. */
const SPECIAL: ReadonlySet<number> = new Set([tt.at, tt._class, tt.nonNullAssertion, ...ERASED_MODIFIERS])

/**
 * @param withImports whether imports are looked at, and those of types erased
 * @throws Refusal
 */
export function erase(program: Program, rewriting: Rewriting, withImports: boolean): void {
  new Eraser(program, rewriting, withImports).run()
}

class Eraser {
  readonly #program: Program
  readonly #rewriting: Rewriting
  readonly #classes: Classes
  readonly #enums: Enums
  readonly #imports: Imports | undefined

  constructor(program: Program, rewriting: Rewriting, withImports: boolean) {
    this.#program = program
    this.#rewriting = rewriting
    this.#classes = new Classes(program, rewriting)
    this.#enums = new Enums(program, rewriting)
    this.#imports = withImports ? new Imports(program, rewriting) : undefined
  }

  run(): void {
    const { tokens } = this.#program
    let at = 0
    while (at < tokens.length) {
      const token = tokens[at] as Token
      // Most tokens are nothing to look at: a call for each took half of all erasing.
      const isPlain = !token.isType && token.statementEnd === undefined && token.memberEnd === undefined
      if (isPlain && !SPECIAL.has(token.type)) at += 1
      else at = this.#step(at)
    }
  }

  /** Deals with what begins at a token; the token to go on with. */
  #step(at: number): number {
    const program = this.#program
    const token = program.tokens[at]
    if (token === undefined) return at + 1
    if (token.statementEnd !== undefined) {
      const next = this.#statement(at, token.statementEnd)
      if (next !== at) return next
    }
    if (token.memberEnd !== undefined) {
      const next = this.#classes.member(at, token.memberEnd)
      if (next !== at) return next
    }
    if (token.isType) return this.#types(at)
    if (token.type === tt.at) {
      throw new Refusal(
        token.start,
        'decorators are not supported: no engine runs them yet',
        'call the decorator as a function',
      )
    }
    if (token.type === tt._class) this.#classes.begin(at)
    if (token.type === tt.nonNullAssertion || isErasedModifier(token.type)) {
      this.#rewriting.blank(token.start, token.end)
    }
    return at + 1
  }

  #statement(start: number, end: number): number {
    const program = this.#program
    this.#refuseNamespace(start, end)
    this.#refuseUsing(start)
    if (program.endOfTypes(start, end) === end) {
      this.#rewriting.blank(program.startOf(start), program.endOf(end - 1), ';')
      return end
    }
    let keyword = program.is(start, tt._export) ? start + 1 : start
    if (program.is(keyword, tt._const)) keyword += 1
    if (program.is(keyword, tt._enum) && program.tokens[keyword]?.isType === false) {
      this.#enums.declaration(start, keyword)
      return keyword + 3
    }
    if (program.is(start, tt._import) || program.is(start, tt._export)) {
      return this.#imports === undefined ? end : this.#imports.statement(start, end)
    }
    return start
  }

  #refuseNamespace(start: number, end: number): void {
    const program = this.#program
    const keyword = namespaceAt(program, start)
    if (keyword === undefined || program.tokens[keyword]?.isType !== true) return
    if (declaresOnlyTypes(program, keyword, end)) return
    throw new Refusal(
      program.startOf(keyword),
      `"${program.text(keyword)} ${program.text(keyword + 1)}" holds values, which is not supported`,
      'use a module, or an object',
    )
  }

  #refuseUsing(start: number): void {
    const program = this.#program
    // `for (using x of y)` begins inside of its statement.
    const at = program.is(start, tt._for) ? start + (program.is(start + 1, tt.parenL) ? 2 : 3) : start
    const using = program.text(at) === 'await' ? at + 1 : at
    const name = program.tokens[using + 1]
    if (!program.says(using, word._using) || name?.type !== tt.name || !isDeclaration(name)) return
    throw new Refusal(
      program.startOf(at),
      `"${using === at ? '' : 'await '}using" is not supported: the engine has no disposal`,
      'use try and finally',
    )
  }

  /** Types within a statement that is not one itself. */
  #types(start: number): number {
    const program = this.#program
    const rewriting = this.#rewriting
    let end = start + 1
    while (program.tokens[end]?.isType === true && !this.#beginsErased(end)) end += 1
    const from = program.startOf(start)
    const to = program.endOf(end - 1)
    const before = program.tokens[start - 1]
    const after = program.tokens[end]
    const breaks = rewriting.breaksLine(from, to)
    const breaksBehind = after !== undefined && rewriting.breaksLine(to, after.start)
    const isAs = program.text(start) === 'as' || program.text(start) === 'satisfies'
    if (isAs && breaksBehind && GOES_ON.has(after.type)) {
      rewriting.blank(from, to, ';')
    } else if (breaks && before?.type === tt.parenR && program.is(end, tt.arrow)) {
      // No line may end between `)` and `=>`.
      rewriting.blank(before.start, before.end)
      rewriting.blank(from, to, '', ')')
    } else if (
      (breaks || breaksBehind) &&
      before !== undefined &&
      program.is(start, tt.lessThan) &&
      (KEEPS_LINE.has(before.type) || program.says(start - 1, word._async) || before.type === tt._async)
    ) {
      if (program.is(end, tt.parenL)) {
        rewriting.blank(from, to, '(')
        rewriting.blank(program.startOf(end), program.endOf(end))
        return end + 1
      }
      rewriting.close(from, program.startOf(end))
    } else rewriting.blank(from, to)
    return end
  }

  /** Whether a token begins a statement or a member of its own. */
  #beginsErased(index: number): boolean {
    const token = this.#program.tokens[index]
    return token?.statementEnd !== undefined || token?.memberEnd !== undefined
  }
}
