/**
 * The forms in which an author may write a program, and how each is handed to the engine.
 *
 * The engine's own parser decides: a form is tried, and only a syntax error leads to the next. A syntax
 * error runs nothing, so trying is safe. No parser of ours runs on hostile source in the host.
 */
import type { ProgramForm } from '../machine/turn.ts'
import { loneFunction } from './lone-function.ts'

/** A source as the engine evaluates it. */
export interface ProgramAttempt {
  readonly form: Exclude<ProgramForm, 'auto'>
  readonly code: string
  /** Columns that were put in front of the author's first line. */
  readonly columnShift: number
  /** Text that has to parse as well: without, the attempt counts as a syntax error. Nothing of it runs. */
  readonly provided?: string
}

/**
 * `script`: statements with top-level `await`; the value is that of the last expression statement.
 * `body`: the body of an async function, with `await` and `return`; `input` is its parameter.
 * `module`: an ES module; the value is its default export.
 * A script that is one function with the word `function`, named or not, and nothing else is an expression: its value is
 * the function (`lone-function.ts`).
 * A value that is a function is called with `input`, and what it returns or resolves to is the value.
 * Each may begin with a line for the shell (`#!`).
 *
 * What stands before a body has to stand in its first line. The engine counts lines and columns from the first byte
 * of what it evaluates: every byte that begins a character is a column, every line feed a line, and nothing takes
 * one back. On a line of its own the prefix would move every line of the program; so it moves the columns of the
 * first one. What the host reports is put right (`positions.ts`). Stacks that a guest looks at itself are not.
 */
const BODY_PREFIX = '(async function (input) {'
const BODY_SUFFIX = '\n})'

/** The source of a body with what stands before it: the function is open. */
export function openBody(source: string): string {
  // The engine skips a shell's line at the very beginning only. As a comment it keeps its place.
  return BODY_PREFIX + withoutShell(source)
}

function withoutShell(source: string): string {
  return source.startsWith('#!') ? `//${source.slice(2)}` : source
}

function expressionAttempts(source: string): readonly ProgramAttempt[] {
  const lone = loneFunction(withoutShell(source))
  return lone === undefined ? [] : [{ form: 'script', columnShift: 1, ...lone }]
}

const LOOKS_LIKE_MODULE = /^[ \t]*(?:import|export)\b(?![ \t]*[(.])/m
const MENTIONS_RETURN = /\breturn\b/

/** What to try, in order. The last one's syntax error is the one to report. */
export function programAttempts(source: string, form: ProgramForm): readonly ProgramAttempt[] {
  const script: ProgramAttempt = { form: 'script', code: source, columnShift: 0 }
  const module: ProgramAttempt = { form: 'module', code: source, columnShift: 0 }
  const body: ProgramAttempt = {
    form: 'body',
    code: openBody(source) + BODY_SUFFIX,
    columnShift: BODY_PREFIX.length,
  }
  switch (form) {
    case 'script':
      return [script]
    case 'module':
      return [module]
    case 'body':
      return [body]
    case 'auto':
      if (LOOKS_LIKE_MODULE.test(source)) return [module]
      return [...expressionAttempts(source), script, ...(MENTIONS_RETURN.test(source) ? [body] : [])]
  }
}
