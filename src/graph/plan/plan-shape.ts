/**
 * The form of a plan document: what `readPlan` checks first, and what is published as its JSON Schema.
 * What a form cannot say (that a reference leads somewhere, that no authority grows) is in `check-plan.ts`.
 */
import { LARGEST_LOOP_THRESHOLD } from '../../capability/loop-guard.ts'
import { kindOf, REGISTERED_KINDS } from './node-kinds.ts'
import { ERROR_CLASSES, PLAN_FORMAT } from './plan.ts'
import { NODE_ID_PATTERN, nodeIdProblem, RESERVED_IDS } from './plan-names.ts'
import {
  either,
  fields,
  flag,
  isObject,
  type JsonSchema,
  list,
  NamedShapes,
  number,
  oneOf,
  record,
  type Shape,
  text,
  variants,
} from './shape.ts'

const MAX_NODES = 1_000
const DAY_MS = 86_400_000
const YEAR_MS = 366 * DAY_MS
const LARGEST = Number.MAX_SAFE_INTEGER
const SOURCE_CHARACTERS = 4 * 1024 * 1024

const named = new NamedShapes()

const NODE_ID: Shape = named.define('nodeId', () =>
  text(
    { min: 1, max: 64, pattern: new RegExp(NODE_ID_PATTERN), what: 'the id of a node' },
    'The id of a node of the same scope.',
  ),
)
const CAPABILITY: Shape = named.define('capability', () =>
  text(
    {
      min: 1,
      max: 260,
      pattern: /^[a-z][A-Za-z0-9]*(\.[a-z][A-Za-z0-9]*){0,3}$/,
      what: 'the name of a capability',
    },
    'The name of a capability, such as "sql.query".',
  ),
)
const COUNT: Shape = number({ min: 0, max: LARGEST })
const AMOUNTS: Shape = record(number({ min: 0, max: LARGEST, whole: false }), {
  pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$',
  problem: (unit) => (/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(unit) ? undefined : 'is no name of a unit'),
  max: 100,
})

/** Anything that JSON can say: what stands in it is looked at by the check of references. */
const TEMPLATE: Shape = named.define('template', () => ({
  schema: {
    description:
      'JSON in which { "$from": "node/member" }, { "$eval": "...", "with": {...} } and { "$value": ... } stand for what they give.',
  },
  check() {},
}))

const ARGUMENT_RULE: Shape = named.define('argumentRule', () =>
  either(
    [
      { holds: (value) => value === null, shape: { schema: { type: 'null' }, check() {} } },
      { holds: (value) => typeof value === 'string', shape: text({ max: 10_000 }) },
      { holds: (value) => typeof value === 'boolean', shape: flag },
      {
        holds: (value) => typeof value === 'number',
        shape: number({ min: -LARGEST, max: LARGEST, whole: false }),
      },
      {
        holds: (value) => isObject(value) && Object.hasOwn(value, 'prefix'),
        shape: fields({ prefix: text({ min: 1, max: 10_000 }) }, ['prefix'], 'A text that begins so.'),
      },
      {
        holds: isObject,
        shape: fields(
          {
            min: number({ min: -LARGEST, max: LARGEST, whole: false }),
            max: number({ min: -LARGEST, max: LARGEST, whole: false }),
          },
          [],
          'A number within these bounds.',
        ),
      },
    ],
    'a value, or { prefix }, or { min, max }',
  ),
)

const RULES =
  'what may stand at this JSON Pointer into the arguments, such as ["a", { "prefix": "b" }, { "min": 1, "max": 20 }]'
const POINTER = /^(\/([^~/]|~[01])*)*$/

/** What somebody may have meant who wrote the name of a member. */
function pointerOf(text: string): string {
  return /^[\w-]{1,60}$/.test(text) ? `"/${text}"` : '"/url"'
}

const GRANT_RULE: Shape = named.define('grant', () =>
  fields(
    {
      capability: CAPABILITY,
      approve: flag,
      calls: COUNT,
      rate: fields(
        { calls: number({ min: 1, max: 10_000 }), perMs: number({ min: 1, max: YEAR_MS }) },
        ['calls', 'perMs'],
        'At most so many calls in any window of so many milliseconds.',
      ),
      concurrent: number({ min: 1, max: 10_000 }),
      bytesIn: COUNT,
      bytesOut: COUNT,
      budgets: AMOUNTS,
      only: record(
        list(ARGUMENT_RULE, { min: 1, max: 1_000, of: RULES }),
        {
          pattern: POINTER.source,
          problem: (pointer) =>
            POINTER.test(pointer)
              ? undefined
              : `is no JSON Pointer into the arguments, such as ${pointerOf(pointer)}`,
          max: 100,
          of: `lists by JSON Pointers into the arguments, such as { "/url": [{ "prefix": "https://a.example/" }] }`,
        },
        'By JSON Pointers into the arguments: what may stand there.',
      ),
    },
    ['capability'],
    'A right with the conditions of its use.',
  ),
)

const GRANTS: Shape = named.define('grants', () =>
  list(
    either(
      [
        { holds: (value) => typeof value === 'string', shape: CAPABILITY },
        { holds: isObject, shape: GRANT_RULE },
      ],
      'the name of a capability, or an object with conditions',
    ),
    { max: 256 },
    'The capabilities that may be called. No wildcards.',
  ),
)

const BUDGET: Shape = named.define('budget', () =>
  fields(
    {
      fuel: COUNT,
      calls: COUNT,
      steps: COUNT,
      activeMs: COUNT,
      wallMs: COUNT,
      bytes: COUNT,
      units: AMOUNTS,
    },
    [],
    'What may be used up in all. What is left out is bounded by what is around.',
  ),
)

const THRESHOLD: Shape = number({ min: 2, max: LARGEST_LOOP_THRESHOLD })

const GUARD: Shape = named.define('guard', () =>
  fields(
    {
      identicalCalls: THRESHOLD,
      identicalErrors: THRESHOLD,
      alternations: THRESHOLD,
      withoutProgress: THRESHOLD,
    },
    [],
    'When a run, and each of its programs, is stopped because it repeats itself.',
  ),
)

const RETRY: Shape = named.define('retry', () =>
  fields(
    {
      attempts: number({ min: 2, max: 10 }),
      on: list(oneOf(ERROR_CLASSES), { min: 1, max: ERROR_CLASSES.length }),
      delayMs: number({ min: 0, max: DAY_MS }),
      mostDelayMs: number({ min: 0, max: DAY_MS }),
    },
    ['attempts', 'on'],
    'When a failed attempt is made again. Nothing is, unless this says so.',
  ),
)

const FALLBACK: Shape = named.define('fallback', () =>
  fields(
    {
      on: list(oneOf(ERROR_CLASSES), { min: 1, max: ERROR_CLASSES.length }),
      node: NODE_ID,
      cached: fields({ mostAgeMs: number({ min: 1, max: 100 * YEAR_MS }) }, ['mostAgeMs']),
      value: TEMPLATE,
      ask: text({ min: 1, max: 2_000 }),
    },
    [],
    'What stands in for the output of a failed node: exactly one of node, cached, value and ask.',
  ),
)

const LIMITS: Shape = record(COUNT, {
  pattern: '^[a-z][A-Za-z]{0,31}$',
  problem: (name) => (/^[a-z][A-Za-z]{0,31}$/.test(name) ? undefined : 'is no name of a limit'),
  max: 32,
})

const PROGRAM: Readonly<Record<string, Shape>> = {
  source: text({ min: 1, max: SOURCE_CHARACTERS }, 'The text of the program.'),
  file: text({ min: 1, max: 1_000 }, 'Path of the program, relative to the plan.'),
  language: oneOf(['js', 'ts'], 'What it is written in. Default: what it looks like.'),
  modules: record(text({ max: SOURCE_CHARACTERS }), {
    pattern: '^.{1,1000}$',
    problem: (path) => (path.length >= 1 && path.length <= 1_000 ? undefined : 'is no path'),
    max: 1_000,
  }),
  input: TEMPLATE,
}

const COMPENSATION: Shape = named.define('compensation', () =>
  variants('kind', {
    call: fields(
      { kind: oneOf(['call']), capability: CAPABILITY, input: TEMPLATE },
      ['kind', 'capability'],
      'A call that undoes the node.',
    ),
    program: fields(
      { kind: oneOf(['program']), ...PROGRAM, grants: GRANTS, limits: LIMITS },
      ['kind'],
      'A program that undoes the node.',
    ),
  }),
)

const COMMON: Readonly<Record<string, Shape>> = {
  title: text({ max: 200 }, 'A few words for people.'),
  after: list(NODE_ID, { max: MAX_NODES }),
  join: oneOf(['all', 'any']),
  when: TEMPLATE,
  budget: BUDGET,
}

const EFFECT: Readonly<Record<string, Shape>> = {
  ...COMMON,
  timeoutMs: number({ min: 1, max: 7 * DAY_MS }),
  retry: RETRY,
  fallback: list(FALLBACK, { min: 1, max: 16 }),
  compensate: COMPENSATION,
}

const SCOPE: Shape = named.define('scope', () =>
  fields({ nodes: NODES, output: TEMPLATE }, ['nodes'], 'Nodes that end together, with what comes out.'),
)
const PLAN: Shape = named.define('plan', () =>
  fields(
    {
      format: oneOf([PLAN_FORMAT]),
      name: text({
        min: 1,
        max: 64,
        pattern: /^[a-z][a-z0-9-]*$/,
        what: 'a name: small letters, digits and "-", beginning with a letter',
      }),
      version: text({ min: 1, max: 64, pattern: /^[A-Za-z0-9][A-Za-z0-9.+_-]*$/, what: 'a version' }),
      description: text({ max: 2_000 }),
      grants: GRANTS,
      budget: BUDGET,
      guard: GUARD,
      nodes: NODES,
      output: TEMPLATE,
    },
    ['format', 'name', 'version', 'nodes'],
    'What a run may do, in which order, with which authority, how often and at what cost.',
  ),
)

const EXPIRES: Shape = number({ min: 1, max: 100 * YEAR_MS })

/** The members of a node by its kind. Kinds that do something in the world come from their registry. */
const NODE: Shape = variants('kind', {
  program: node(
    'program',
    { ...EFFECT, ...PROGRAM, grants: GRANTS, limits: LIMITS },
    [],
    'A program in an isolate of its own.',
  ),
  ...Object.fromEntries(REGISTERED_KINDS.map((kind) => [kind, registered(kind)])),
  call: node(
    'call',
    { ...EFFECT, capability: CAPABILITY, input: TEMPLATE },
    ['capability'],
    'One call of a capability.',
  ),
  approval: node(
    'approval',
    {
      ...COMMON,
      question: text({ min: 1, max: 2_000 }),
      show: TEMPLATE,
      expiresMs: EXPIRES,
      rejected: oneOf(['fail', 'continue']),
    },
    ['question'],
    'A question to a person, who is shown data.',
  ),
  choice: node(
    'choice',
    {
      ...COMMON,
      cases: list(
        fields({ when: TEMPLATE, take: list(NODE_ID, { min: 1, max: MAX_NODES }) }, ['when', 'take']),
        {
          min: 1,
          max: 100,
        },
      ),
      otherwise: list(NODE_ID, { max: MAX_NODES }),
    },
    ['cases'],
    'Which of the nodes after it start.',
  ),
  each: node(
    'each',
    {
      ...COMMON,
      over: TEMPLATE,
      most: number({ min: 1, max: 10_000 }),
      concurrency: number({ min: 1, max: 1_000 }),
      do: SCOPE,
    },
    ['over', 'most', 'do'],
    'The same nodes for every item of a list.',
  ),
  loop: node(
    'loop',
    { ...COMMON, state: TEMPLATE, do: SCOPE, until: TEMPLATE, most: number({ min: 1, max: 10_000 }) },
    ['do', 'until', 'most'],
    'The same nodes again and again, at most so often.',
  ),
  plan: node('plan', { ...COMMON, plan: PLAN, input: TEMPLATE }, ['plan'], 'A plan in a plan.'),
  wait: node(
    'wait',
    {
      ...COMMON,
      forMs: number({ min: 1, max: 100 * YEAR_MS }),
      until: TEMPLATE,
      event: text({ min: 1, max: 128, pattern: /^[A-Za-z0-9._-]+$/, what: 'the name of an event' }),
      expiresMs: EXPIRES,
    },
    [],
    'Until a time, or an event from outside: exactly one of forMs, until and event.',
  ),
})

const NODES: Shape = named.define('nodes', () =>
  record(
    NODE,
    { pattern: NODE_ID_PATTERN, reserved: RESERVED_IDS, problem: nodeIdProblem, min: 1, max: MAX_NODES },
    'Nodes by their ids.',
  ),
)

export const PLAN_SHAPE: Shape = PLAN

/** The JSON Schema of plan documents, for editors, forms and models (draft 2020-12). */
export const PLAN_JSON_SCHEMA: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Plan',
  ...PLAN.schema,
  $defs: named.schemas,
}

/** The members of a kind that is in the registry. */
function registered(kind: (typeof REGISTERED_KINDS)[number]): Shape {
  const { members, required, description } = kindOf({ kind })
  return node(
    kind,
    { ...EFFECT, ...members({ template: TEMPLATE, grants: GRANTS, limits: LIMITS }) },
    required,
    description,
  )
}

function node(
  kind: string,
  members: Readonly<Record<string, Shape>>,
  required: readonly string[],
  description: string,
): Shape {
  return named.define(`${kind}Node`, () =>
    fields({ kind: oneOf([kind]), ...members }, ['kind', ...required], description),
  )
}
