/**
 * What the build changes in sucrase's parser: which version it is, it says itself.
 *
 * - The parser marks where statements and members of classes begin and end: what is erased may have to end the line.
 * - An arrow function in a branch of a conditional, where it saw a return type that is none.
 * - Two places where it took the end of a statement that it only looked for.
 * - JSX and Flow are off for good, so that the bundle leaves them out.
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
    ['export let isTypeScriptEnabled;', 'export const isTypeScriptEnabled = true;'],
    ['export let isFlowEnabled;', 'export const isFlowEnabled = false;'],
    ['  isJSXEnabled = isJSXEnabledArg;\n', ''],
    ['  isTypeScriptEnabled = isTypeScriptEnabledArg;\n', ''],
    ['  isFlowEnabled = isFlowEnabledArg;\n', ''],
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

/** For esbuild: sucrase's parser with these edits, and the tables as numbers in the eraser too. */
export const editSucrase: Plugin = {
  name: 'edit-sucrase',
  setup(build) {
    build.onLoad(
      { filter: /[\\/](?:sucrase[\\/]dist[\\/]esm|guest[\\/]typescript)[\\/].*\.[jt]s$/ },
      ({ path }) => {
        const file = path.slice(PARSER.length + 1).replaceAll(sep, '/')
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
