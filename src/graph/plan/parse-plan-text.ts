/**
 * The text of a plan, YAML or JSON (which is YAML), as a document that knows where its parts stand.
 *
 * Invariants
 * 1. Work is bounded: by the length of the text, and by its words and marks, which are counted before it is read. No
 *    key is compared with all others, no alias is followed.
 * 2. What two readers could read differently is refused: duplicate keys, anchors, tags, keys that are no texts, numbers
 *    that not all hold, other versions of YAML than 1.2.
 */
import { isMap, isScalar, isSeq, Lexer, type Node, parseDocument, type Scalar } from 'yaml'
import { placeOfIndex, type SourcePlace } from '../../program/source-place.ts'
import { PLAN_LIMITS } from './plain-tree.ts'
import { type PlanProblem, PlanProblems, pointerTo } from './plan-problem.ts'

/** In UTF-16 units; the sources of programs are better kept in files of their own. */
const PLAN_TEXT_LENGTH = 1024 * 1024
/** Words and marks: the library takes microseconds for each, and tens of them for one that is wrong. */
const PLAN_TEXT_TOKENS = 150_000
const MOST_ERRORS = 10

export interface PlanText {
  /** Undefined where the text cannot be read. */
  readonly document: unknown
  readonly problems: PlanProblems
  /** Where what a problem is about stands, or begins: the nearest thing around it that there is. */
  placeOf(problem: PlanProblem): SourcePlace
  /** Where a place in the text at a JSON Pointer stands, if it stands there as it is: a program, an expression. */
  placeIn(at: string, place: SourcePlace): SourcePlace | undefined
}

/** Reads the text of a plan. What is wrong with it is among the problems. */
export function parsePlanText(text: string): PlanText {
  const reader = new TextReader(text)
  const document = reader.read()
  return {
    document: reader.problems.count > 0 ? undefined : document,
    problems: reader.problems,
    placeOf: (problem) => reader.placeOf(problem),
    placeIn: (at, place) => reader.placeIn(at, place),
  }
}

class TextReader {
  readonly problems = new PlanProblems()
  readonly #text: string
  /** Of members and elements, by their pointers: where their key begins, or they themselves. */
  readonly #begins = new Map<string, number>()
  readonly #texts = new Map<string, Scalar<string>>()

  constructor(text: string) {
    this.#text = text
  }

  read(): unknown {
    const length = this.#text.length
    if (length > PLAN_TEXT_LENGTH)
      return this.#refuse('', `the text has ${length} characters; at most ${PLAN_TEXT_LENGTH} are read`)
    if (hasMoreTokens(this.#text, PLAN_TEXT_TOKENS)) {
      const most = `at most ${PLAN_TEXT_TOKENS} words and marks are read`
      return this.#refuse('', `the text is too much: ${most}. Larger plans are given as objects`)
    }
    // With our own eyes for keys: the library compares each with all others.
    // Not `silent`: of several documents it would read the first.
    const parsed = parseDocument(this.#text, { uniqueKeys: false, logLevel: 'error', prettyErrors: false })
    for (const { message, pos } of [...parsed.errors, ...parsed.warnings].slice(0, MOST_ERRORS)) {
      const [begin] = pos
      // The library follows nesting on the stack, and says so.
      if (!/call stack/i.test(message)) this.problems.add('', firstSmall(message), begin)
      else return this.#refuse('', 'the text is nested too deep', begin)
    }
    const { explicit, version } = parsed.directives?.yaml ?? {}
    if (explicit === true && version !== '1.2')
      this.problems.add('', `is YAML ${version} by its own words; plans are YAML 1.2`, 0)
    return this.problems.count > 0 ? undefined : this.#value(parsed.contents, '', PLAN_LIMITS.depth)
  }

  placeOf({ at, index }: PlanProblem): SourcePlace {
    if (index !== undefined) return placeOfIndex(this.#text, index)
    for (let pointer = at; pointer !== ''; pointer = pointer.slice(0, pointer.lastIndexOf('/'))) {
      const begin = this.#begins.get(pointer)
      if (begin !== undefined) return placeOfIndex(this.#text, begin)
    }
    return { line: 1, column: 1 }
  }

  placeIn(at: string, { line, column }: SourcePlace): SourcePlace | undefined {
    const scalar = this.#texts.get(at)
    if (scalar === undefined) return undefined
    const begin = scalar.range?.[0] ?? 0
    const wanted = scalar.value.split('\n', line)[line - 1]
    if (wanted === undefined) return undefined
    if (scalar.type === 'BLOCK_LITERAL') {
      // The text begins in the line after its mark, and is indented there.
      const head = placeOfIndex(this.#text, begin).line
      const found = this.#text.split('\n', head + line)[head + line - 1]?.replace(/\r$/, '')
      if (found?.endsWith(wanted) !== true) return undefined
      return { line: head + line, column: found.length - wanted.length + column }
    }
    const inside = [begin, begin + 1].find((index) => this.#text.startsWith(scalar.value, index))
    if (inside === undefined || line > 1) return undefined
    const start = placeOfIndex(this.#text, inside)
    return { line: start.line, column: start.column + column - 1 }
  }

  #value(node: Node | null, at: string, depth: number): unknown {
    if (node === null) return null
    if (depth === 0) return this.#refuse(at, `is nested more than ${PLAN_LIMITS.depth} deep`)
    if (node.range && !this.#begins.has(at)) this.#begins.set(at, node.range[0])
    if ('anchor' in node && node.anchor !== undefined)
      return this.#refuse(at, 'has an anchor ("&"): write it out where it is used')
    if (node.tag !== undefined)
      return this.#refuse(at, `has the tag ${node.tag.slice(0, 60)}: plans are plain data`)
    if (isScalar(node)) return this.#scalar(node, at)
    if (isSeq(node))
      return node.items.map((item, i) => this.#value(item as Node | null, pointerTo(at, i), depth - 1))
    if (isMap(node)) return this.#map(node.items as readonly { key: unknown; value: unknown }[], at, depth)
    return this.#refuse(at, 'refers to an anchor ("*"): write it out')
  }

  #scalar(node: Scalar, at: string): unknown {
    const { value, source = '' } = node
    if (typeof value === 'string') this.#texts.set(at, node as Scalar<string>)
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      if (!/[.e]/i.test(source))
        return this.#refuse(at, 'is a whole number that not all readers hold: put it in quotes')
    }
    return value
  }

  #map(
    items: readonly { readonly key: unknown; readonly value: unknown }[],
    at: string,
    depth: number,
  ): unknown {
    const members = new Map<string, unknown>()
    for (const { key, value } of items) {
      const begin = (key as Node | null)?.range?.[0]
      if (
        !isScalar(key) ||
        typeof key.value !== 'string' ||
        key.tag !== undefined ||
        key.anchor !== undefined
      ) {
        this.#refuse(at, 'has a key that is no plain text: put it in quotes', begin)
        continue
      }
      const place = pointerTo(at, key.value)
      if (members.has(key.value)) {
        this.#refuse(place, 'stands here twice', begin)
        continue
      }
      if (begin !== undefined) this.#begins.set(place, begin)
      members.set(key.value, this.#value(value as Node | null, place, depth - 1))
    }
    return Object.fromEntries(members)
  }

  #refuse(at: string, problem: string, index?: number): null {
    this.problems.add(at, problem, index)
    return null
  }
}

function hasMoreTokens(text: string, most: number): boolean {
  let count = 0
  for (const token of new Lexer().lex(text)) if (token !== '' && ++count > most) return true
  return false
}

function firstSmall(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1)
}
