/** References in templates: where they stand, and what is wrong with them. */

import { pointerTo } from './plan-problem.ts'
import { isObject } from './shape.ts'

/** `$from`: a node, or a source such as `input`, and a JSON Pointer into what it gives. */
export interface Reference {
  readonly source: string
  readonly pointer: readonly string[]
}

const EXPRESSION_CHARACTERS = 10_000
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
/** What no parameter may be called, and what is no member like others. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    '__proto__ arguments await break case catch class const continue debugger default delete do else enum eval ' +
    'export extends false finally for function if implements import in instanceof interface let new null package ' +
    'private protected public return static super switch this throw true try typeof var void while with yield'
  ).split(' '),
)

/** Told of everything in a template that is not plain JSON. */
export interface TemplateVisitor {
  reference?(reference: Reference, at: string): void
  /** The source of an expression, where it stands, and the names that it may use. */
  expression?(source: string, at: string, names: readonly string[]): void
  problem?(at: string, problem: string): void
}

/** Visits the references of a template, in the order in which they stand. */
export function visitTemplate(template: unknown, at: string, visitor: TemplateVisitor): void {
  if (Array.isArray(template)) {
    for (const [i, element] of template.entries()) visitTemplate(element, pointerTo(at, i), visitor)
    return
  }
  if (!isObject(template)) return
  const marked = Object.keys(template).find((key) => key.startsWith('$'))
  switch (marked) {
    case undefined:
      for (const [key, value] of Object.entries(template)) visitTemplate(value, pointerTo(at, key), visitor)
      return
    case '$value':
      if (Object.keys(template).length > 1) visitor.problem?.(at, '"$value" stands alone')
      return
    case '$from': {
      if (Object.keys(template).length > 1) visitor.problem?.(at, '"$from" stands alone')
      const reference = parseReference(template.$from)
      if (typeof reference === 'string') visitor.problem?.(pointerTo(at, '$from'), reference)
      else visitor.reference?.(reference, pointerTo(at, '$from'))
      return
    }
    case '$eval':
      visitExpression(template, at, visitor)
      return
    default:
      visitor.problem?.(
        pointerTo(at, marked),
        'is no reference: they are "$from", "$eval" and "$value" (which takes what begins with "$" as it is)',
      )
  }
}

function visitExpression(
  template: Readonly<Record<string, unknown>>,
  at: string,
  visitor: TemplateVisitor,
): void {
  for (const key of Object.keys(template)) {
    if (key !== '$eval' && key !== 'with')
      visitor.problem?.(pointerTo(at, key), 'is not known here. Known: $eval, with')
  }
  const { $eval: source, with: values = {} } = template
  if (typeof source !== 'string' || source.trim() === '' || source.length > EXPRESSION_CHARACTERS)
    visitor.problem?.(
      pointerTo(at, '$eval'),
      `must be an expression of at most ${EXPRESSION_CHARACTERS} characters`,
    )
  else visitor.expression?.(source, pointerTo(at, '$eval'), isObject(values) ? Object.keys(values) : [])
  if (!isObject(values)) {
    visitor.problem?.(pointerTo(at, 'with'), 'must be an object of named values')
    return
  }
  for (const [name, value] of Object.entries(values)) {
    const place = pointerTo(pointerTo(at, 'with'), name)
    if (!NAME.test(name) || RESERVED.has(name))
      visitor.problem?.(place, 'is no name of a value: letters, digits and "_", and no word of JavaScript')
    visitTemplate(value, place, visitor)
  }
}

/** The reference that a text is, or what is wrong with it. */
export function parseReference(text: unknown): Reference | string {
  if (typeof text !== 'string' || text.length > 1_000) return 'must be a text such as "query/rows/0"'
  const [source = '', ...pointer] = text.split('/')
  if (source === '') return 'must begin with a node, or with "input", "item", "index" or "state"'
  if (pointer.some((part) => /~(?![01])/.test(part))) return 'has a "~" that is neither "~0" nor "~1"'
  return { source, pointer: pointer.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')) }
}
