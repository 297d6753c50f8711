/**
 * Enums become what TypeScript makes of them: an object that has names and, for numbers, values as keys.
 *
 * Each member stays where it is. Whether a value that is computed is a number shows when it runs. A member's value may
 * name the members before it, and those of earlier declarations of the same enum.
 */
import { IdentifierRole, isDeclaration } from 'sucrase/dist/esm/parser/tokenizer/index.js'
import { TokenType as tt } from 'sucrase/dist/esm/parser/tokenizer/types.js'
import type { Program } from './program.ts'
import { Refusal } from './refusal.ts'
import type { Rewriting } from './rewriting.ts'

interface Member {
  /** Token of its name, and the one behind its value. */
  readonly name: number
  readonly end: number
  /** Token of `=`, or undefined. */
  readonly eq: number | undefined
}

/** Whether a value is a text, a number, or shows itself when it runs. */
type Kind = 'text' | 'number' | 'computed'

const OPERATORS = /^[-+*/%&|^~()<>]+$/

export class Enums {
  readonly #program: Program
  readonly #rewriting: Rewriting
  /** Members of the enums of this file with what they are, by scope and name of the enum. */
  readonly #members = new Map<string, Map<string, Kind>>()

  constructor(program: Program, rewriting: Rewriting) {
    this.#program = program
    this.#rewriting = rewriting
  }

  /**
   * @param start token of `export`, `const` or `enum`, whichever is first
   * @param keyword token of `enum`
   */
  declaration(start: number, keyword: number): void {
    const program = this.#program
    const name = program.text(keyword + 1)
    const open = keyword + 2
    const close = program.closing(open)
    const scope = program.scopeOf(keyword)
    const key = `${scope}:${name}`
    const known = this.#members.get(key)
    const members = known ?? new Map<string, Kind>()
    this.#members.set(key, members)
    const isExport = program.is(start, tt._export)
    const variable =
      known !== undefined ? ';' : `${isExport ? 'export ' : ''}${scope === 0 ? 'var' : 'let'} ${name};`
    this.#rewriting.replaceKeepingLines(
      program.startOf(start),
      program.endOf(open),
      `${variable}(function(${name}){`,
    )
    let previous: Member | undefined
    for (const member of this.#membersOf(open, close)) {
      this.#member(name, member, previous, members)
      previous = member
    }
    this.#rewriting.replace(program.startOf(close), program.endOf(close), `})(${name}||(${name}={}));`)
  }

  #member(
    owner: string,
    { name, end, eq }: Member,
    previous: Member | undefined,
    known: Map<string, Kind>,
  ): void {
    const program = this.#program
    const rewriting = this.#rewriting
    const written = program.text(name)
    const key = program.is(name, tt.string) ? written : `"${written}"`
    const place = `${owner}[${key}]`
    let kind: Kind = 'number'
    if (eq === undefined) {
      const value = this.#valueAfter(owner, name, previous, known)
      rewriting.replace(program.startOf(name), program.endOf(name), `${owner}[${place}=${value}]=${key}`)
    } else {
      kind = this.#kindOf(eq + 1, end, known)
      const before = kind === 'text' ? place : kind === 'number' ? `${owner}[${place}` : `typeof(${place}`
      const after =
        kind === 'text' ? '' : kind === 'number' ? `]=${key}` : `)==="number"&&(${owner}[${place}]=${key})`
      rewriting.replace(program.startOf(name), program.endOf(name), before)
      this.#qualify(owner, eq + 1, end, known)
      if (after !== '') rewriting.insert(program.endOf(end - 1), after)
    }
    if (program.is(end, tt.comma)) rewriting.replace(program.startOf(end), program.endOf(end), ';')
    known.set(program.is(name, tt.string) ? written.slice(1, -1) : written, kind)
  }

  /** The value of a member that has none: one more than the one before. */
  #valueAfter(
    owner: string,
    name: number,
    previous: Member | undefined,
    known: ReadonlyMap<string, Kind>,
  ): string {
    const program = this.#program
    if (previous === undefined) return '0'
    if (previous.eq !== undefined && this.#kindOf(previous.eq + 1, previous.end, known) === 'text') {
      throw new Refusal(
        program.startOf(name),
        `enum member ${program.text(name)} follows a text, and has no value of its own`,
        'give it one',
      )
    }
    const before = program.text(previous.name)
    return `${owner}[${program.is(previous.name, tt.string) ? before : `"${before}"`}]+1`
  }

  #kindOf(start: number, end: number, known: ReadonlyMap<string, Kind>): Kind {
    const program = this.#program
    if (end - start === 1) {
      if (program.is(start, tt.string)) return 'text'
      if (known.get(program.text(start)) === 'text') return 'text'
    }
    if (program.is(start, tt.backQuote) && end - start <= 3) return 'text'
    for (let at = start; at < end; at++) {
      if (program.is(at, tt.num) || OPERATORS.test(program.text(at))) continue
      if (known.get(program.text(at)) !== 'number' || !this.#refers(at)) return 'computed'
    }
    return 'number'
  }

  #refers(index: number): boolean {
    return this.#program.tokens[index]?.identifierRole === IdentifierRole.Access
  }

  /** Names of members in a value mean the members. A name that the value declares itself means that. */
  #qualify(owner: string, start: number, end: number, known: ReadonlyMap<string, Kind>): void {
    const program = this.#program
    const { tokens } = program
    const declared = new Set<string>()
    for (let at = start; at < end; at++) {
      const token = tokens[at]
      if (token !== undefined && isDeclaration(token)) declared.add(program.text(at))
    }
    for (let at = start; at < end; at++) {
      const token = tokens[at]
      const text = program.text(at)
      if (token?.type !== tt.name || token.isType || !known.has(text) || declared.has(text)) continue
      if (this.#refers(at)) {
        this.#rewriting.insert(token.start, `${owner}.`)
      } else if (token.identifierRole === IdentifierRole.ObjectShorthand) {
        this.#rewriting.insert(token.end, `:${owner}.${text}`)
      }
    }
  }

  #membersOf(open: number, close: number): readonly Member[] {
    const program = this.#program
    const members: Member[] = []
    let name = open + 1
    while (name < close) {
      const eq = program.is(name + 1, tt.eq) ? name + 1 : undefined
      const end = eq === undefined ? name + 1 : (program.tokens[eq]?.rhsEndIndex ?? close)
      members.push({ name, end, eq })
      name = program.is(end, tt.comma) ? end + 1 : end
    }
    return members
  }
}
