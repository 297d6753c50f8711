/** `caisson plan check`, `show`, `diff` and `schema`: plans as documents. plan-run.ts has those that run them. */
import type { Command, FlagGroup } from '../command.ts'
import { toolFlags } from '../run/right-flags.ts'

const PLAN_DOCUMENT =
  'A plan is a YAML or JSON document: its nodes, what each may call, and what all of it may spend (docs/plans.md). "-" is standard input. Programs that it names by file are read from its folder, and are part of it.'

/** What capabilities there are. */
const TOOLS: FlagGroup = toolFlags(
  'What there is to call',
  'A module whose default export is a list of capabilities. What the plan asks for and neither this nor the --allow- flags have is a problem then. It is code that you trust: it is loaded.',
)

export const planCheckCommand: Command = {
  name: 'plan check',
  summary: 'whether a plan is right: its form, references, authority, programs, WebAssembly',
  usage: 'plan check FILE [flags]',
  description: [
    'Checks a plan and tells its problems with their places, stage by stage: first its form, such as unknown keys; then references that lead nowhere, nodes that wait for themselves, rights and budgets that grow on the way in; then programs and expressions that do not parse, and WebAssembly that is not what its node takes it for: another kind, an export that is not there, imports that nobody grants. Nothing of it is run. A plan that is right is named by its digest.',
    PLAN_DOCUMENT,
  ],
  positionals: { name: 'FILE', min: 1, max: 1 },
  groups: [TOOLS],
  examples: [
    ['caisson plan check report.yaml', 'all problems, or what the plan is'],
    ['caisson plan check report.yaml --tools ./tools.js', 'also whether there is what it asks for'],
    ['caisson plan check report.yaml --json', 'for machines'],
  ],
  run: async (given, io) => (await import('../plan/check-plan-file.ts')).checkPlanFile(given, io),
}

export const planShowCommand: Command = {
  name: 'plan show',
  summary: 'a plan for people: in order, with its rights, or as a picture',
  usage: 'plan show FILE [flags]',
  description: [
    'Shows what a plan does, in the order in which it can happen, what each node may call and spend, and of WebAssembly what it is and imports.',
    PLAN_DOCUMENT,
  ],
  positionals: { name: 'FILE', min: 1, max: 1 },
  groups: [
    {
      title: 'How',
      flags: [
        {
          name: 'format',
          value: 'text|mermaid|svg|json',
          help: 'text (default): for a terminal. mermaid: a flowchart for pages that draw it. svg: a picture. json: the plan as its digest names it, with all programs.',
        },
      ],
    },
  ],
  examples: [
    ['caisson plan show report.yaml', 'in the terminal'],
    ['caisson plan show report.yaml --format svg > report.svg', 'as a picture'],
  ],
  run: async (given, io) => (await import('../plan/show-plan-file.ts')).showPlanFile(given, io),
}

export const planDiffCommand: Command = {
  name: 'plan diff',
  summary: 'what a new version of a plan changes, and whether it needs an approval',
  usage: 'plan diff OLD NEW [flags]',
  description: [
    'Tells in words what changes from one plan to another: authority and budget first, then nodes, edges and words. Who approved the old one has approved the new one if it may do nothing else and nothing more.',
    PLAN_DOCUMENT,
  ],
  positionals: { name: 'OLD and NEW', min: 2, max: 2 },
  groups: [],
  examples: [
    ['caisson plan diff report.yaml report-2.yaml', 'two files'],
    ['caisson plan diff report.yaml - < new.yaml', 'the new one from standard input'],
  ],
  run: async (given, io) => (await import('../plan/diff-plan-files.ts')).diffPlanFiles(given, io),
}

export const planSchemaCommand: Command = {
  name: 'plan schema',
  summary: 'the JSON Schema of plans, for editors and models',
  usage: 'plan schema [flags]',
  description: [
    'Prints the JSON Schema (draft 2020-12) of plan documents. Editors complete and check plans with it, models write plans by it. What a schema cannot say, caisson plan check does.',
  ],
  positionals: { name: '', min: 0, max: 0 },
  groups: [],
  examples: [['caisson plan schema > plan.schema.json', 'for an editor']],
  run: async (_given, io) => (await import('../plan/print-plan-schema.ts')).printPlanSchema(io),
}
