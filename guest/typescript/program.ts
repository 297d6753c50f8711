/** A parsed source: sucrase's tokens, and what is asked of them again and again. */
import identifyShadowedGlobals from 'sucrase/dist/esm/identifyShadowedGlobals.js'
import { parse, type Scope, type Token } from 'sucrase/dist/esm/parser/index.js'
import { TokenType as tt } from 'sucrase/dist/esm/parser/tokenizer/types.js'

export type { Token } from 'sucrase/dist/esm/parser/index.js'

export class Program {
  readonly source: string
  readonly tokens: readonly Token[]
  readonly scopes: readonly Scope[]

  /** @throws SyntaxError with `pos` */
  constructor(source: string, isTypeScript: boolean) {
    const { tokens, scopes } = parse(source, false, isTypeScript, false)
    this.source = source
    this.tokens = tokens
    this.scopes = scopes
  }

  text(index: number): string {
    const token = this.tokens[index]
    return token === undefined ? '' : this.source.slice(token.start, token.end)
  }

  is(index: number, type: number): boolean {
    return this.tokens[index]?.type === type
  }

  /** Whether a token is a name with a meaning of its own in some places. */
  says(index: number, keyword: number): boolean {
    const token = this.tokens[index]
    return token !== undefined && token.type === tt.name && token.contextualKeyword === keyword
  }

  /** Source indexes of a range of tokens. */
  startOf(index: number): number {
    return this.tokens[index]?.start ?? this.source.length
  }

  endOf(index: number): number {
    return this.tokens[index]?.end ?? this.source.length
  }

  /** Index of the token behind those of a type that begin at `index`; never beyond `limit`. */
  endOfTypes(index: number, limit: number = this.tokens.length): number {
    let end = index
    while (end < limit && this.tokens[end]?.isType === true) end += 1
    return end
  }

  /** Index of the token that closes the bracket at `index`. */
  closing(index: number): number {
    let depth = 0
    for (let at = index; at < this.tokens.length; at++) {
      const type = this.tokens[at]?.type
      if (type === tt.braceL || type === tt.dollarBraceL || type === tt.parenL || type === tt.bracketL)
        depth += 1
      else if (type === tt.braceR || type === tt.parenR || type === tt.bracketR) depth -= 1
      if (depth === 0) return at
    }
    return this.tokens.length
  }

  /** Where the innermost scope around a token begins: equal for two tokens of one block. */
  scopeOf(index: number): number {
    let innermost = 0
    for (const { startTokenIndex, endTokenIndex } of this.scopes) {
      if (startTokenIndex <= index && index < endTokenIndex && startTokenIndex > innermost) {
        innermost = startTokenIndex
      }
    }
    return innermost
  }

  /** Marks where these names stand for something else than at the top level. */
  markShadowed(names: ReadonlySet<string>): void {
    const { source, tokens } = this
    identifyShadowedGlobals(
      { tokens, identifierNameForToken: ({ start, end }) => source.slice(start, end) },
      this.scopes,
      names,
    )
  }
}
