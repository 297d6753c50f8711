/**
 * What the build changes in sucrase's parser: which version it is, it says itself.
 *
 * - The parser marks where statements and members of classes begin and end: what is erased may have to end the line.
 * - An arrow function in a branch of a conditional, where it saw a return type that is none.
 * - Two places where it took the end of a statement that it only looked for.
 * - JSX and Flow are off for good, so that the bundle leaves them out.
 * - Words, spaces, comments and strings are found by regular expressions, which the engine runs, and not by loops.
 * - Its tables of numbers become the numbers: an interpreter looks up no names then (a third less time, and less to load).
 *
 * Each change must find what it changes, exactly once: another version of sucrase fails the build.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import type { Plugin } from 'esbuild'

const require = createRequire(import.meta.url)
const PACKAGE = dirname(require.resolve('sucrase/package.json'))
const PARSER = join(PACKAGE, 'dist/esm/parser')

export const SUCRASE_VERSION: string = (require('sucrase/package.json') as { readonly version: string })
  .version

const EDITS: Readonly<Record<string, readonly (readonly [find: string, replace: string])[]>> = {
  'traverser/base.js': [
    ['export let isJSXEnabled;', 'export const isJSXEnabled = false;'],
    ['export let isFlowEnabled;', 'export const isFlowEnabled = false;'],
    ['  isJSXEnabled = isJSXEnabledArg;\n', ''],
    ['  isFlowEnabled = isFlowEnabledArg;\n', ''],
  ],
  // Tables of 65,536 entries: filled at once, and not by loops that take longer than all other loading.
  'util/identifier.js': [
    [
      `for (let i = 128; i < 65536; i++) {
  IS_IDENTIFIER_CHAR[i] = 1;
}`,
      'IS_IDENTIFIER_CHAR.fill(1, 128);',
    ],
  ],
  'tokenizer/index.js': [
    // A property of an object costs an interpreter more than reading the token does: what is as ever is on the prototype.
    [
      `    this.type = state.type;
    this.contextualKeyword = state.contextualKeyword;
    this.start = state.start;
    this.end = state.end;
    this.scopeDepth = state.scopeDepth;
    this.isType = state.isType;
    this.identifierRole = null;
    this.jsxRole = null;
    this.shadowsGlobal = false;
    this.isAsyncOperation = false;
    this.contextId = null;
    this.rhsEndIndex = null;
    this.isExpression = false;
    this.numNullishCoalesceStarts = 0;
    this.numNullishCoalesceEnds = 0;
    this.isOptionalChainStart = false;
    this.isOptionalChainEnd = false;
    this.subscriptStartIndex = null;
    this.nullishStartIndex = null;`,
      `    this.type = state.type;
    this.start = state.start;
    this.end = state.end;
    if (state.contextualKeyword !== 0) this.contextualKeyword = state.contextualKeyword;
    if (state.isType) this.isType = true;`,
    ],
    [
      `// ## Tokenizer
`,
      `Object.assign(Token.prototype, {
  contextualKeyword: 0,
  isType: false,
  identifierRole: null,
  shadowsGlobal: false,
  contextId: null,
  rhsEndIndex: null,
  statementEnd: undefined,
  memberEnd: undefined,
});
`,
    ],
    [
      `  const snapshot = state.snapshot();
  next();
  const type = state.type;
  state.restoreFromSnapshot(snapshot);
  return type;`,
      '  return lookaheadTypeAndKeyword().type;',
    ],
    [
      `  const snapshot = state.snapshot();
  next();
  const type = state.type;
  const contextualKeyword = state.contextualKeyword;
  state.restoreFromSnapshot(snapshot);
  return new TypeAndKeyword(type, contextualKeyword);`,
      `  const {pos, type, contextualKeyword, start, end, error} = state;
  nextToken();
  const ahead = {type: state.type, contextualKeyword: state.contextualKeyword};
  state.pos = pos;
  state.type = type;
  state.contextualKeyword = contextualKeyword;
  state.start = start;
  state.end = end;
  state.error = error;
  return ahead;`,
    ],
    // A table for what is one character, before the cases of a switch are compared one by one.
    [
      `    readWord();
  } else {
    getTokenFromCode(code);
  }`,
      `    readWord();
  } else {
    const single = SINGLE[code];
    if (single > 0) {
      ++state.pos;
      finishToken(single);
    } else {
      getTokenFromCode(code);
    }
  }`,
    ],
    [
      'function readToken(code) {',
      `const SINGLE = new Int32Array(65536);
SINGLE[charCodes.leftParenthesis] = tt.parenL;
SINGLE[charCodes.rightParenthesis] = tt.parenR;
SINGLE[charCodes.semicolon] = tt.semi;
SINGLE[charCodes.comma] = tt.comma;
SINGLE[charCodes.leftSquareBracket] = tt.bracketL;
SINGLE[charCodes.rightSquareBracket] = tt.bracketR;
SINGLE[charCodes.leftCurlyBrace] = tt.braceL;
SINGLE[charCodes.rightCurlyBrace] = tt.braceR;

function readToken(code) {`,
    ],
    // Comments and strings are searched by the engine, and not walked through by a program.
    [
      `function skipBlockComment() {
  while (
    input.charCodeAt(state.pos) !== charCodes.asterisk ||
    input.charCodeAt(state.pos + 1) !== charCodes.slash
  ) {
    state.pos++;
    if (state.pos > input.length) {
      unexpected("Unterminated comment", state.pos - 2);
      return;
    }
  }
  state.pos += 2;
}`,
      `function skipBlockComment() {
  const end = input.indexOf("*/", state.pos);
  if (end < 0) {
    unexpected("Unterminated comment", state.pos - 2);
    return;
  }
  state.pos = end + 2;
}

const REST_OF_LINE = /[^\\n\\r\\u2028\\u2029]*/y;
const SPACES = /[ \\t\\n]*/y;
const UNTIL_QUOTE = /[^"\\\\]*/y;
const UNTIL_APOSTROPHE = /[^'\\\\]*/y;

function skipAll(what) {
  what.lastIndex = state.pos;
  what.test(input);
  state.pos = what.lastIndex;
}`,
    ],
    [
      `  let ch = input.charCodeAt((state.pos += startSkip));
  if (state.pos < input.length) {
    while (
      ch !== charCodes.lineFeed &&
      ch !== charCodes.carriageReturn &&
      ch !== charCodes.lineSeparator &&
      ch !== charCodes.paragraphSeparator &&
      ++state.pos < input.length
    ) {
      ch = input.charCodeAt(state.pos);
    }
  }`,
      `  state.pos += startSkip;
  skipAll(REST_OF_LINE);`,
    ],
    [
      `      case charCodes.lineFeed:
      case charCodes.lineSeparator:
      case charCodes.paragraphSeparator:
        ++state.pos;
        break;

      case charCodes.slash:`,
      `      case charCodes.lineSeparator:
      case charCodes.paragraphSeparator:
        ++state.pos;
        break;

      case charCodes.space:
        if (input.charCodeAt(state.pos + 1) > 47) {
          ++state.pos;
          return;
        }
      case charCodes.lineFeed:
        skipAll(SPACES);
        break;

      case charCodes.slash:`,
    ],
    [
      `    const ch = input.charCodeAt(state.pos);
    if (ch === charCodes.backslash) {
      state.pos++;
    } else if (ch === quote) {
      break;
    }
    state.pos++;`,
      `    skipAll(quote === charCodes.quotationMark ? UNTIL_QUOTE : UNTIL_APOSTROPHE);
    const ch = input.charCodeAt(state.pos);
    if (ch === quote) break;
    state.pos += 2;`,
    ],
  ],
  // Every attempt that fails makes an error: with a stack, which grows with the nesting, that is the work of the parser.
  'traverser/util.js': [
    [
      `  const err = new SyntaxError(message);
  err.pos = pos;
  state.error = err;`,
      '  state.error = {message, pos};',
    ],
  ],
  'index.js': [['throw augmentError(state.error);', 'throw state.error;']],
  // Taken before every attempt: a list is made faster than an object.
  'tokenizer/state.js': [
    [
      `    return new StateSnapshot(
      this.potentialArrowAt,
      this.noAnonFunctionType,
      this.inDisallowConditionalTypesContext,
      this.tokens.length,
      this.scopes.length,
      this.pos,
      this.type,
      this.contextualKeyword,
      this.start,
      this.end,
      this.isType,
      this.scopeDepth,
      this.error,
    );`,
      `    return [
      this.potentialArrowAt,
      this.inDisallowConditionalTypesContext,
      this.tokens.length,
      this.scopes.length,
      this.pos,
      this.type,
      this.contextualKeyword,
      this.start,
      this.end,
      this.isType,
      this.scopeDepth,
      this.error,
    ];`,
    ],
    [
      `    this.potentialArrowAt = snapshot.potentialArrowAt;
    this.noAnonFunctionType = snapshot.noAnonFunctionType;
    this.inDisallowConditionalTypesContext = snapshot.inDisallowConditionalTypesContext;
    this.tokens.length = snapshot.tokensLength;
    this.scopes.length = snapshot.scopesLength;
    this.pos = snapshot.pos;
    this.type = snapshot.type;
    this.contextualKeyword = snapshot.contextualKeyword;
    this.start = snapshot.start;
    this.end = snapshot.end;
    this.isType = snapshot.isType;
    this.scopeDepth = snapshot.scopeDepth;
    this.error = snapshot.error;`,
      `    this.potentialArrowAt = snapshot[0];
    this.inDisallowConditionalTypesContext = snapshot[1];
    this.tokens.length = snapshot[2];
    this.scopes.length = snapshot[3];
    this.pos = snapshot[4];
    this.type = snapshot[5];
    this.contextualKeyword = snapshot[6];
    this.start = snapshot[7];
    this.end = snapshot[8];
    this.isType = snapshot[9];
    this.scopeDepth = snapshot[10];
    this.error = snapshot[11];`,
    ],
  ],
  // In `a ? (b) : c => d` nothing is a return type. As TypeScript does, the branch is read again if no `:` follows.
  'traverser/expression.js': [
    [
      'export function baseParseConditional(noIn) {\n  if (eat(tt.question)) {\n    parseMaybeAssign();',
      `export function baseParseConditional(noIn) {
  if (eat(tt.question)) {
    const snapshot = state.snapshot();
    parseMaybeAssign();
    if ((state.error || !match(tt.colon)) && !state.noReturnTypes) {
      state.restoreFromSnapshot(snapshot);
      state.noReturnTypes = true;
      parseMaybeAssign();
      state.noReturnTypes = false;
    }`,
    ],
  ],
  // `type;` is a name and the end of a statement. To look whether one ends must not take its `;`.
  'plugins/typescript.js': [
    [
      'export function tsParseArrow() {\n  if (match(tt.colon)) {',
      'export function tsParseArrow() {\n  if (match(tt.colon) && !state.noReturnTypes) {',
    ],
    ['    return !isLineTerminator();', '    return !(match(tt.semi) || canInsertSemicolon());'],
    [
      'function tsTryParseDeclare() {\n  if (isLineTerminator()) {',
      'function tsTryParseDeclare() {\n  if (match(tt.semi) || canInsertSemicolon()) {',
    ],
  ],
  'traverser/statement.js': [
    [
      'export function parseStatement(declaration) {',
      `export function parseStatement(declaration) {
  const start = state.tokens.length;
  parseMarkedStatement(declaration);
  if (start < state.tokens.length) state.tokens[start].statementEnd = state.tokens.length;
}

function parseMarkedStatement(declaration) {`,
    ],
    [
      'function parseClassMember(memberStart, classContextId) {',
      `function parseClassMember(memberStart, classContextId) {
  const start = state.tokens.length;
  parseMarkedClassMember(memberStart, classContextId);
  if (start < state.tokens.length) state.tokens[start].memberEnd = state.tokens.length;
}

function parseMarkedClassMember(memberStart, classContextId) {`,
    ],
  ],
}

/** A table of numbers: the module that has it, its name, and what it is called where it is used. */
interface Table {
  readonly file: string
  readonly name: string
  readonly used: RegExp
  readonly values: Readonly<Record<string, number | string>>
}

const TABLES: readonly Table[] = [
  ['tokenizer/types.js', 'TokenType', 'tt|TokenType'],
  ['tokenizer/keywords.js', 'ContextualKeyword', 'word|ContextualKeyword'],
  ['tokenizer/index.js', 'IdentifierRole', 'IdentifierRole'],
  ['tokenizer/index.js', 'JSXRole', 'JSXRole'],
  ['util/charcodes.js', 'charCodes', 'charCodes'],
].map(([file = '', name = '', aliases = '']) => ({
  file,
  name,
  used: new RegExp(String.raw`(?<![\w.])(?:${aliases})\.(\w+)`, 'g'),
  values: (require(join(PACKAGE, 'dist/parser', file)) as Record<string, Table['values']>)[name] ?? {},
}))

const NAME_TYPE = TABLES[0]?.values.name

/** What sucrase's tree says of a word: `type * 2 + 1` for a keyword, `keyword * 2` for a word that is a name. */
function readWords(): Readonly<Record<string, number>> {
  const { READ_WORD_TREE: tree } = require(join(PACKAGE, 'dist/parser/tokenizer/readWordTree.js')) as {
    readonly READ_WORD_TREE: Int32Array
  }
  const words: Record<string, number> = {}
  const walk = (at: number, word: string): void => {
    if ((tree[at] ?? -1) > -1) words[word] = tree[at] as number
    for (let letter = 0; letter < 26; letter++) {
      const next = tree[at + 1 + letter] ?? -1
      if (next > -1) walk(next, word + String.fromCharCode(97 + letter))
    }
  }
  walk(0, '')
  return words
}

/** Instead of sucrase's `readWord`, which walks a tree letter by letter. */
function readWordModule(): string {
  return `
import {input, state} from "../traverser/base";
import {finishToken} from "./index";

const WORDS = new Map(Object.entries(${JSON.stringify(readWords())}));
const NAME = /(?:[$\\w]|[^\\0-\\x7f\\s\\ufeff])+/y;

export default function readWord() {
  const start = state.pos;
  NAME.lastIndex = start;
  if (NAME.test(input)) state.pos = NAME.lastIndex;
  if (input.charCodeAt(state.pos) === 92) return readEscapes();
  const value = WORDS.get(input.slice(start, state.pos));
  if (value === undefined) finishToken(${NAME_TYPE});
  else if (value & 1) finishToken(value >>> 1);
  else finishToken(${NAME_TYPE}, value >>> 1);
}

/** A word with escapes is a name, whatever it spells. */
function readEscapes() {
  while (input.charCodeAt(state.pos) === 92) {
    state.pos += 2;
    if (input.charCodeAt(state.pos) === 123) {
      const end = input.indexOf("}", state.pos);
      state.pos = end < 0 ? input.length : end + 1;
    }
    NAME.lastIndex = state.pos;
    if (NAME.test(input)) state.pos = NAME.lastIndex;
  }
  finishToken(${NAME_TYPE});
}
`
}

/** For esbuild: sucrase's parser with these edits, and the tables as numbers in the eraser too. */
export const editSucrase: Plugin = {
  name: 'edit-sucrase',
  setup(build) {
    build.onLoad(
      { filter: /[\\/](?:sucrase[\\/]dist[\\/]esm|guest[\\/]typescript)[\\/].*\.[jt]s$/ },
      ({ path }) => {
        const file = path.slice(PARSER.length + 1).replaceAll(sep, '/')
        if (file === 'tokenizer/readWord.js') return { contents: readWordModule(), loader: 'js' }
        let contents = readFileSync(path, 'utf8')
        if (path.startsWith(PARSER)) {
          for (const [find, replace] of EDITS[file] ?? [])
            contents = replaceOnce(contents, find, replace, file)
          for (const { name, file: place } of TABLES)
            if (place === file) contents = withoutTable(contents, name)
        }
        for (const { used, values, name } of TABLES) {
          contents = contents.replace(used, (text, key: string) => {
            if (typeof values[key] !== 'number') throw new Error(`sucrase's table ${name} has no ${text}.`)
            return String(values[key])
          })
        }
        return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' }
      },
    )
  },
}

function replaceOnce(text: string, find: string, replace: string, file: string): string {
  const parts = text.split(find)
  if (parts.length !== 2) throw new Error(`sucrase's ${file} does not have once: ${find}`)
  return parts.join(replace)
}

/** What still imports a table gets none: nothing reads it any more. */
function withoutTable(text: string, name: string): string {
  const start = text.indexOf(`export var ${name};`)
  const close = `})(${name} || (${name} = {}));`
  const end = text.indexOf(close, start) + close.length
  return `${text.slice(0, start)}export const ${name} = undefined;${text.slice(end)}`
}

/** The licence that a copy of sucrase comes with, as a comment. */
export function sucraseNotice(): string {
  const license = readFileSync(join(PACKAGE, 'LICENSE'), 'utf8').trim().split('\n')
  const title = `Contains the parser of sucrase ${SUCRASE_VERSION}, https://github.com/alangpierce/sucrase`
  return `/*!\n${[title, '', ...license].map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
}
