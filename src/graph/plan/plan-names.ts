/** Which ids and names a plan may use. */

const NODE_ID = /^[a-z][A-Za-z0-9-]{0,63}$/

/** What references may name beside nodes. */
export const SOURCES = ['input', 'item', 'index', 'state', 'output'] as const

export type SourceName = (typeof SOURCES)[number]

export const NODE_ID_PATTERN: string = NODE_ID.source

/** Members of every object that would pass as ids, also for people and programs that look ids up in plain objects. */
const NAMES_OF_OBJECTS: readonly string[] = Object.getOwnPropertyNames(Object.prototype).filter((name) =>
  NODE_ID.test(name),
)

/** What no node may be called. */
export const RESERVED_IDS: readonly string[] = [...NAMES_OF_OBJECTS, ...SOURCES]

/** What is wrong with the id of a node, as the end of a sentence. */
export function nodeIdProblem(id: string): string | undefined {
  if (!NODE_ID.test(id))
    return 'is no id of a node: 1 to 64 of A-Z, a-z, 0-9 and "-", beginning with a small letter'
  if (NAMES_OF_OBJECTS.includes(id)) return 'is a name of every object, and so no id of a node'
  if ((SOURCES as readonly string[]).includes(id))
    return `means something else in references: ${SOURCES.join(', ')}`
  return undefined
}
