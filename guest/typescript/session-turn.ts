/**
 * One turn of a session as a script: what it declares stays for the turns that follow, and may be declared again there.
 *
 * `const` and `let` of the top level become `var`, classes become values of a `var`, imports wait for their modules.
 * What a later turn may see changes by that: a constant can be assigned to, and is undefined before it is reached.
 *
 * Invariants
 * 1. Only statements of the top level change; blocks, loops and functions keep their own names.
 * 2. Lines stay the same lines.
 */
import { TokenType as tt } from 'sucrase/dist/esm/parser/tokenizer/types.js'
import type { Program } from './program.ts'
import { Refusal } from './refusal.ts'
import type { Rewriting } from './rewriting.ts'

/**
 * @param isTypeScript an imported name may be that of a type then, which no module has
 * @throws Refusal
 */
export function writeTurn(program: Program, rewriting: Rewriting, isTypeScript: boolean): void {
  let used: ReadonlySet<string> | undefined
  const mayBeType = (name: string): boolean => {
    if (!isTypeScript) return false
    used ??= usedNames(program)
    return !used.has(name)
  }
  let at = 0
  while (at < program.tokens.length) {
    const end = program.tokens[at]?.statementEnd ?? at + 1
    if (program.endOfTypes(at, end) !== end) writeStatement(program, rewriting, at, end, mayBeType)
    at = end
  }
}

/** Names that stand for values somewhere outside of imports; some that only look so. */
function usedNames(program: Program): ReadonlySet<string> {
  const names = new Set<string>()
  for (let at = 0; at < program.tokens.length; at++) {
    const token = program.tokens[at]
    const isCall = program.is(at + 1, tt.parenL) || program.is(at + 1, tt.dot)
    if (token?.type === tt._import && token.statementEnd !== undefined && !isCall) {
      at = token.statementEnd - 1
    } else if (token?.type === tt.name && !token.isType && !program.is(at - 1, tt.dot)) {
      names.add(program.text(at))
    }
  }
  return names
}

function writeStatement(
  program: Program,
  rewriting: Rewriting,
  start: number,
  end: number,
  mayBeType: (name: string) => boolean,
): void {
  switch (program.tokens[start]?.type) {
    case tt._const:
      if (!program.is(start + 1, tt._enum)) keyword(program, rewriting, start)
      return
    case tt._let:
      keyword(program, rewriting, start)
      initialise(program, rewriting, start + 1, end)
      return
    case tt._class:
    case tt._abstract: {
      const at = program.is(start, tt._class) ? start : start + 1
      rewriting.insert(program.startOf(at), `var ${program.text(at + 1)}=`)
      rewriting.insert(program.endOf(end - 1), ';')
      return
    }
    case tt._import:
      if (!program.is(start + 1, tt.parenL) && !program.is(start + 1, tt.dot)) {
        awaitImport(program, rewriting, start, end, mayBeType)
      }
      return
    case tt._return:
      if (end >= program.tokens.length || program.is(end, tt.eof)) returned(program, rewriting, start, end)
      return
    case tt._export:
      throw new Refusal(
        program.startOf(start),
        'a session has no exports',
        'leave out "export": what a turn declares, the next ones see',
      )
    default:
  }
}

/** `var` in the place of another keyword: nothing behind it moves. */
function keyword(program: Program, rewriting: Rewriting, at: number): void {
  rewriting.replace(program.startOf(at), program.endOf(at), 'var'.padEnd(program.text(at).length))
}

/** What a turn ends with returning is its value: the expression alone. */
function returned(program: Program, rewriting: Rewriting, start: number, end: number): void {
  const last = program.is(end - 1, tt.semi) ? end - 2 : end - 1
  const isEmpty = last === start
  rewriting.replace(program.startOf(start), program.endOf(start), isEmpty ? ';void 0' : '    ;(')
  if (!isEmpty) rewriting.insert(program.endOf(last), ')')
}

/** A variable that is declared again without a value has none. */
function initialise(program: Program, rewriting: Rewriting, start: number, end: number): void {
  let depth = 0
  for (let at = start; at < end; at++) {
    const type = program.tokens[at]?.type
    if (type === tt.braceL || type === tt.bracketL || type === tt.parenL || type === tt.dollarBraceL)
      depth += 1
    else if (type === tt.braceR || type === tt.bracketR || type === tt.parenR) depth -= 1
    const before = at - 1
    const begins =
      at === start || (depth === 0 && program.is(before, tt.comma) && isBetween(program, start, before))
    if (!begins || depth !== 0 || type !== tt.name) continue
    const next = program.endOfTypes(at + 1, end)
    const behind = program.is(next, tt.nonNullAssertion) ? program.endOfTypes(next + 1, end) : next
    if (behind >= end || program.is(behind, tt.comma) || program.is(behind, tt.semi)) {
      rewriting.insert(program.endOf(at), '=void 0')
    }
  }
}

/** Whether a comma stands between two declarations, and not in the value of one: values hold none outside of brackets. */
function isBetween(program: Program, start: number, comma: number): boolean {
  return program.tokens[comma]?.isType === false && comma > start
}

function awaitImport(
  program: Program,
  rewriting: Rewriting,
  start: number,
  end: number,
  mayBeType: (name: string) => boolean,
): void {
  if (importsTypes(program, start)) {
    rewriting.blank(program.startOf(start), program.endOf(end - 1), ';')
    return
  }
  let at = start + 1
  const named: Imported[] = []
  let single: Imported | undefined
  let namespace: string | undefined
  if (program.is(at, tt.name)) {
    single = { from: '"default"', as: program.text(at), at: program.startOf(at) }
    at += program.is(at + 1, tt.comma) ? 2 : 1
  }
  if (program.is(at, tt.star)) {
    namespace = program.text(at + 2)
    at += 3
  } else if (program.is(at, tt.braceL)) {
    const close = program.closing(at)
    for (let from = at + 1; from < close; ) {
      let to = from
      while (to < close && !program.is(to, tt.comma)) to += 1
      // `a`, `a as b`; with `type` before it, it is no value.
      if (to - from === 1 || to - from === 3) {
        const text = program.text(from)
        const key = program.is(from, tt.string) ? text : `"${text}"`
        named.push({ from: key, as: program.text(to - 1), at: program.startOf(from) })
      }
      from = to + 1
    }
    at = close + 1
  }
  while (at < end && !program.is(at, tt.string)) at += 1
  const last = program.is(end - 1, tt.semi) ? end - 2 : end - 1
  const attributes = at < last ? program.source.slice(program.startOf(at + 2), program.endOf(last)) : ''
  const from = program.text(at)
  const imported = `await import(${from}${attributes === '' ? '' : `,{with:${attributes}}`})`
  writeDeclaration(
    rewriting,
    [program.startOf(start), program.endOf(end - 1)],
    { from, imported, namespace, names: single === undefined ? named : [single, ...named] },
    mayBeType,
  )
}

/** An import declaration. */
interface Declaration {
  /** The specifier, as a literal. */
  readonly from: string
  /** The expression that gives the module. */
  readonly imported: string
  readonly namespace: string | undefined
  readonly names: readonly Imported[]
}

/** A name of one. */
interface Imported {
  /** As a literal. */
  readonly from: string
  readonly as: string
  /** Where it stands in the source. */
  readonly at: number
}

/**
 * Variables for what is imported, and a look whether the module has it: an error is thrown where the name stands, with
 * the words of the engine for a static import.
 */
function writeDeclaration(
  rewriting: Rewriting,
  [start, end]: readonly [number, number],
  { from, imported, namespace, names }: Declaration,
  mayBeType: (name: string) => boolean,
): void {
  const whole = namespace === undefined ? '' : `var ${namespace}=${imported};`
  if (names.length === 0) {
    rewriting.replaceKeepingLines(start, end, whole || `${imported};`)
    return
  }
  const pattern = names.map((name) => `${name.from}:${name.as}`).join()
  rewriting.insert(start, `${whole}var {${pattern}}=(m=>{`)
  let at = start
  for (const name of names) {
    if (mayBeType(name.as)) continue
    rewriting.replaceKeepingLines(at, name.at, '')
    const message = `"Could not find export '"+${name.from}+"' in module '"+${from}+"'"`
    rewriting.insert(name.at, `if(!(${name.from}in m))throw new SyntaxError(${message});`)
    at = name.at
  }
  rewriting.replaceKeepingLines(at, end, `return m})(${namespace ?? imported});`)
}

/** `import type ...`, but for a default import that is called `type`. */
function importsTypes(program: Program, start: number): boolean {
  if (program.text(start + 1) !== 'type') return false
  const next = start + 2
  return !program.is(next, tt.comma) && !(program.text(next) === 'from' && program.is(next + 1, tt.string))
}
