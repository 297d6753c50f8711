/** The tables of docs/plans.md that come from the code. */
import { ERROR_CLASSES } from '../../src/graph/plan/plan.ts'
import { PLAN_JSON_SCHEMA } from '../../src/graph/plan/plan-shape.ts'
import { NODE_TRANSITIONS, RUN_TRANSITIONS } from '../../src/graph/run/transitions.ts'

type Transitions = Readonly<Record<string, Readonly<Record<string, string | undefined>>>>
export type Row = readonly string[]

/** One row for each event and what becomes of it: `[event, states in which it may follow, state after it]`. */
function transitionRows(table: Transitions): readonly Row[] {
  const rows = new Map<string, { event: string; from: string[]; to: string }>()
  for (const [from, events] of Object.entries(table)) {
    for (const [event, to = ''] of Object.entries(events)) {
      const row = rows.get(`${event} ${to}`) ?? { event, from: [], to }
      row.from.push(from)
      rows.set(`${event} ${to}`, row)
    }
  }
  return [...rows.values()].map(({ event, from, to }) => [code(event), from.map(code).join(', '), code(to)])
}

export const RUN_ROWS: readonly Row[] = transitionRows(RUN_TRANSITIONS as Transitions)
export const NODE_ROWS: readonly Row[] = transitionRows(NODE_TRANSITIONS as Transitions)
/** States that nothing follows. */
export const LAST_RUN_STATES: readonly string[] = lastOf(RUN_TRANSITIONS as Transitions)
export const LAST_NODE_STATES: readonly string[] = lastOf(NODE_TRANSITIONS as Transitions)

function lastOf(table: Transitions): readonly string[] {
  return Object.entries(table).flatMap(([state, events]) => (Object.keys(events).length === 0 ? [state] : []))
}

interface Described {
  readonly description?: string
  readonly properties: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}
const definitions = (PLAN_JSON_SCHEMA as { $defs: Readonly<Record<string, Described>> }).$defs
const nodes = Object.entries(definitions).filter(([name]) => name.endsWith('Node'))
/** What every node may say. */
export const COMMON: readonly string[] = Object.keys(nodes[0]?.[1].properties ?? {}).filter(
  (name) => name !== 'kind' && nodes.every(([, { properties }]) => name in properties),
)

/** `[kind, what it is, its own members]`: those that it needs first, in bold. */
export const KIND_ROWS: readonly Row[] = nodes.map(
  ([name, { properties, required = [], description = '' }]) => {
    const own = Object.keys(properties).filter((member) => member !== 'kind' && !COMMON.includes(member))
    const needed = own.filter((member) => required.includes(member)).map((member) => `**${code(member)}**`)
    const others = own.filter((member) => !required.includes(member)).map(code)
    return [code(name.slice(0, -'Node'.length)), description, [...needed, ...others].join(', ')]
  },
)

export const BUDGET_MEMBERS: readonly string[] = Object.keys(definitions.budget?.properties ?? {})
export const GRANT_MEMBERS: readonly string[] = Object.keys(definitions.grant?.properties ?? {})
export const CLASSES: readonly string[] = ERROR_CLASSES

function code(text: string): string {
  return `\`${text}\``
}

/** As it stands on the page. */
export function tableText(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
