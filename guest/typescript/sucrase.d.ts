/**
 * What is used of sucrase's parser, which has no types of its own for its modules. `statementEnd` and `memberEnd`
 * are ours: the build adds them (`scripts/typescript/edit-sucrase.ts`).
 */
declare module 'sucrase/dist/esm/parser/index.js' {
  export interface Token {
    readonly type: number
    readonly contextualKeyword: number
    /** UTF-16 index of the first character, and behind the last. */
    readonly start: number
    readonly end: number
    readonly isType: boolean
    readonly identifierRole: number | null
    readonly shadowsGlobal: boolean
    readonly contextId: number | null
    /** Of `=`: index of the token behind the value. */
    readonly rhsEndIndex: number | null
    /** Of a token that begins a statement: index of the token behind it. */
    readonly statementEnd?: number
    /** Of a token that begins a member of a class: index of the token behind it. */
    readonly memberEnd?: number
  }
  export interface Scope {
    readonly startTokenIndex: number
    readonly endTokenIndex: number
  }
  export interface File {
    readonly tokens: readonly Token[]
    readonly scopes: readonly Scope[]
  }
  export function parse(source: string, jsx: boolean, typescript: boolean, flow: boolean): File
}

declare module 'sucrase/dist/esm/parser/traverser/base.js' {
  /** The parser's state while and after it runs. */
  export const state: { readonly error: { readonly message: string; readonly pos: number } | null }
}

declare module 'sucrase/dist/esm/parser/tokenizer/types.js' {
  export const TokenType: {
    readonly name: number
    readonly string: number
    readonly num: number
    readonly eof: number
    readonly at: number
    readonly hash: number
    readonly eq: number
    readonly comma: number
    readonly semi: number
    readonly colon: number
    readonly dot: number
    readonly star: number
    readonly minus: number
    readonly arrow: number
    readonly lessThan: number
    readonly backQuote: number
    readonly braceL: number
    readonly braceR: number
    readonly dollarBraceL: number
    readonly bracketL: number
    readonly bracketR: number
    readonly parenL: number
    readonly parenR: number
    readonly nonNullAssertion: number
    readonly _abstract: number
    readonly _as: number
    readonly _async: number
    readonly _class: number
    readonly _const: number
    readonly _declare: number
    readonly _default: number
    readonly _enum: number
    readonly _export: number
    readonly _extends: number
    readonly _for: number
    readonly _import: number
    readonly _let: number
    readonly _override: number
    readonly _private: number
    readonly _protected: number
    readonly _public: number
    readonly _readonly: number
    readonly _return: number
    readonly _satisfies: number
    readonly _static: number
    readonly _super: number
    readonly _throw: number
    readonly _yield: number
  }
}

declare module 'sucrase/dist/esm/parser/tokenizer/keywords.js' {
  export const ContextualKeyword: {
    readonly _accessor: number
    readonly _as: number
    readonly _async: number
    readonly _constructor: number
    readonly _declare: number
    readonly _from: number
    readonly _global: number
    readonly _interface: number
    readonly _module: number
    readonly _namespace: number
    readonly _type: number
    readonly _using: number
  }
}

declare module 'sucrase/dist/esm/parser/tokenizer/index.js' {
  import type { Token } from 'sucrase/dist/esm/parser/index.js'

  export const IdentifierRole: {
    readonly Access: number
    readonly ExportAccess: number
    readonly ObjectShorthand: number
    readonly ObjectKey: number
  }
  export function isDeclaration(token: Token): boolean
  export function isTopLevelDeclaration(token: Token): boolean
}

declare module 'sucrase/dist/esm/identifyShadowedGlobals.js' {
  import type { Scope, Token } from 'sucrase/dist/esm/parser/index.js'

  /** Sets `shadowsGlobal` on tokens that name a declaration of an inner scope. */
  export default function identifyShadowedGlobals(
    tokens: {
      readonly tokens: readonly Token[]
      identifierNameForToken(token: Token): string
    },
    scopes: readonly Scope[],
    names: ReadonlySet<string>,
  ): void
}
