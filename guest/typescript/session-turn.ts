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

/** @throws Refusal */
export function writeTurn(program: Program, rewriting: Rewriting): void {
  let at = 0
  while (at < program.tokens.length) {
    const end = program.tokens[at]?.statementEnd ?? at + 1
    if (program.endOfTypes(at, end) !== end) writeStatement(program, rewriting, at, end)
    at = end
  }
}

function writeStatement(program: Program, rewriting: Rewriting, start: number, end: number): void {
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
        awaitImport(program, rewriting, start, end)
      }
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

function awaitImport(program: Program, rewriting: Rewriting, start: number, end: number): void {
  if (importsTypes(program, start)) {
    rewriting.blank(program.startOf(start), program.endOf(end - 1), ';')
    return
  }
  let at = start + 1
  const named: string[] = []
  let single: string | undefined
  let namespace: string | undefined
  if (program.is(at, tt.name)) {
    single = program.text(at)
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
      if (to - from === 1 || to - from === 3) named.push(`${program.text(from)}:${program.text(to - 1)}`)
      from = to + 1
    }
    at = close + 1
  }
  while (at < end && !program.is(at, tt.string)) at += 1
  const last = program.is(end - 1, tt.semi) ? end - 2 : end - 1
  const attributes = at < last ? program.source.slice(program.startOf(at + 2), program.endOf(last)) : ''
  const imported = `await import(${program.text(at)}${attributes === '' ? '' : `,{with:${attributes}}`})`
  rewriting.replaceKeepingLines(
    program.startOf(start),
    program.endOf(end - 1),
    declaration(imported, single, namespace, named),
  )
}

/** `import type ...`, but for a default import that is called `type`. */
function importsTypes(program: Program, start: number): boolean {
  if (program.text(start + 1) !== 'type') return false
  const next = start + 2
  return !program.is(next, tt.comma) && !(program.text(next) === 'from' && program.is(next + 1, tt.string))
}

function declaration(
  imported: string,
  single: string | undefined,
  namespace: string | undefined,
  named: readonly string[],
): string {
  if (namespace !== undefined) {
    return `var ${namespace}=${imported}${single === undefined ? '' : `,${single}=${namespace}.default`};`
  }
  const names = [...(single === undefined ? [] : [`default:${single}`]), ...named]
  return names.length === 0 ? `${imported};` : `var {${names.join()}}=${imported};`
}
