/**
 * The text of a plan, YAML or JSON (which is YAML), as a document that knows where its parts stand.
 *
 * Invariants
 * 1. Work is bounded by the length of the text: no key is compared with all others, no alias is followed.
 * 2. What two readers could read differently is refused: duplicate keys, anchors, tags, keys that are no texts.
 */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import type { SourcePlace } from '../../program/source-place.ts'
import { PlanProblems, pointerTo } from './plan-problem.ts'

/** In UTF-16 units; the sources of programs are better kept in files of their own. */
export const PLAN_TEXT_LENGTH: number = 1024 * 1024

export interface PlanText {
  /** Undefined where the text is no YAML. */
  readonly document: unknown
  readonly problems: PlanProblems
  /** Where the value at a JSON Pointer begins, or the nearest one around it. */
  placeOf(pointer: string): SourcePlace
}

/** Reads the text of a plan. What is wrong with it is among the problems. */
export function parsePlanText(text: string): PlanText {
  const problems = new PlanProblems()
  const lines = new LineCounter()
  const reader = new TextReader(problems, lines)
  const document = text.length > PLAN_TEXT_LENGTH ? tooLong(text, problems) : reader.read(text)
  return {
    document: problems.count > 0 ? undefined : document,
    problems,
    placeOf: (pointer) => reader.placeOf(pointer),
  }
}

function tooLong(text: string, problems: PlanProblems): undefined {
  problems.add('', `the text has ${text.length} characters; at most ${PLAN_TEXT_LENGTH} are read`)
  return undefined
}

class TextReader {
  readonly #problems: PlanProblems
  readonly #lines: LineCounter
  readonly #offsets = new Map<string, number>()

  constructor(problems: PlanProblems, lines: LineCounter) {
    this.#problems = problems
    this.#lines = lines
  }

  read(text: string): unknown {
    try {
      const parsed = parseDocument(text, {
        lineCounter: this.#lines,
        // By ourselves: the library compares each key with all others.
        uniqueKeys: false,
        logLevel: 'silent',
        prettyErrors: false,
        stringKeys: false,
      })
      for (const { message, pos } of [...parsed.errors, ...parsed.warnings].slice(0, 10)) {
        const at = `#${this.#problems.count}`
        this.#offsets.set(at, pos[0])
        this.#problems.add(at, message.charAt(0).toLowerCase() + message.slice(1))
      }
      return this.#problems.count > 0 ? undefined : this.#value(parsed.contents, '')
    } catch (error) {
      // Nesting that the parser follows on the stack.
      if (!(error instanceof RangeError)) throw error
      this.#problems.add('', 'the text is nested too deep')
      return undefined
    }
  }

  placeOf(pointer: string): SourcePlace {
    for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
      const offset = this.#offsets.get(at)
      if (offset !== undefined) {
        const { line, col } = this.#lines.linePos(offset)
        return { line: Math.max(line, 1), column: Math.max(col, 1) }
      }
      if (at === '') return { line: 1, column: 1 }
      if (!at.includes('/')) return { line: 1, column: 1 }
    }
  }

  #value(node: Node | null, at: string): unknown {
    if (node === null) return null
    if (node.range && !this.#offsets.has(at)) this.#offsets.set(at, node.range[0])
    if ('anchor' in node && node.anchor !== undefined)
      return this.#refuse(at, 'has an anchor ("&"): write it out where it is used')
    if (node.tag !== undefined && !PLAIN_TAGS.has(node.tag))
      return this.#refuse(at, `has the tag ${node.tag.slice(0, 60)}: plans are plain data`)
    if (isScalar(node)) return node.value
    if (isSeq(node)) return node.items.map((item, i) => this.#value(item as Node | null, pointerTo(at, i)))
    if (isMap(node)) return this.#map(node.items as { key: unknown; value: unknown }[], at)
    return this.#refuse(at, 'refers to an anchor ("*"): write it out')
  }

  #map(items: readonly { readonly key: unknown; readonly value: unknown }[], at: string): unknown {
    const members = new Map<string, unknown>()
    for (const { key, value } of items) {
      if (!isScalar(key) || typeof key.value !== 'string') {
        this.#refuse(at, 'has a key that is no text')
        continue
      }
      const place = pointerTo(at, key.value)
      if (members.has(key.value)) {
        this.#offsets.set(place, key.range?.[0] ?? 0)
        this.#refuse(place, 'stands here twice')
        continue
      }
      this.#offsets.set(place, key.range?.[0] ?? 0)
      members.set(key.value, this.#value(value as Node | null, place))
    }
    return Object.fromEntries(members)
  }

  #refuse(at: string, problem: string): null {
    this.#problems.add(at, problem)
    return null
  }
}

const PLAIN_TAGS: ReadonlySet<string> = new Set(
  ['map', 'seq', 'str', 'null', 'bool', 'int', 'float'].map((name) => `tag:yaml.org,2002:${name}`),
)
