/**
 * The transpiler as it runs in a guest: TypeScript in, JavaScript out, or why not. It gets nothing else, and gives
 * nothing else.
 */
import { state } from 'sucrase/dist/esm/parser/traverser/base.js'
import { erase } from './erase.ts'
import { Program } from './program.ts'
import { Refusal } from './refusal.ts'
import { type Places, Rewriting } from './rewriting.ts'
import { writeTurn } from './session-turn.ts'

/** What the host reads. `index` is a UTF-16 index into the source. */
export type Transpiled =
  | { readonly code: string; readonly places: Places }
  | { readonly message: string; readonly index: number }

/** What is to be read, and as what: a program in TypeScript, or a turn of a session in one of both languages. */
export type Task = 'program' | 'turn-ts' | 'turn-js'

export default function transpile(source: string, task: Task = 'program'): Transpiled {
  let program: Program
  try {
    program = new Program(source, task !== 'turn-js')
  } catch (error) {
    return jsxIn(source) ?? parseProblem(source, error)
  }
  try {
    const rewriting = new Rewriting(source)
    if (task !== 'turn-js') erase(program, rewriting, task === 'program')
    if (task !== 'program') writeTurn(program, rewriting, task === 'turn-ts')
    return rewriting.finish()
  } catch (error) {
    if (error instanceof Refusal) return { message: error.message, index: error.index }
    throw error
  }
}

function parseProblem(source: string, error: unknown): Transpiled {
  // What the parser stumbled over first: it goes on, and what it throws may be about that.
  const { pos, message } = state.error ?? (error as { readonly message: string; readonly pos?: number })
  const end = source.trimEnd().length
  if (pos === undefined) return { message: 'the program cannot be parsed as TypeScript', index: end }
  if (pos >= end) return { message: 'unexpected end of the program', index: end }
  const token = /^(?:[\p{ID_Continue}$]{1,40}|.)/su.exec(source.slice(pos, pos + 80))?.[0] ?? ''
  const expected = /, expected (".{1,20}")$/.exec(message)?.[1]
  return {
    message: `unexpected token: '${token}'${expected === undefined ? '' : `, expected ${expected}`}`,
    index: pos,
  }
}

/** JSX, in a source that does not parse: `</name>`, `</>`, or `<name ... />`. */
function jsxIn(source: string): Transpiled | undefined {
  const [tag, name] = /<\/([A-Za-z][\w.]*)?>|<[A-Za-z][^<>]{0,400}\/>/.exec(source) ?? []
  if (tag === undefined) return undefined
  const places = [source.indexOf(tag.startsWith('</') ? `<${name ?? '>'}` : tag), source.indexOf('<>')]
  const index = Math.min(...places.filter((place) => place >= 0), source.length)
  return {
    message: 'JSX is not supported: call the function that makes the element',
    index: Math.max(0, index),
  }
}
