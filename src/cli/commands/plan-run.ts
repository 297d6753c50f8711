/** `caisson plan propose`, `approve`, `reject`, `withdraw`, `start`, `send` and `events`: runs of plans. */
import type { Command, Flag, FlagGroup } from '../command.ts'
import { KEY_FILE } from '../kept/keeping-flags.ts'
import { SIGN_KEY } from '../kept/sign-key.ts'
import { PLAN_STORE, PLAN_TOOLS, REQUESTS, SIGNED_STORE, WHO } from '../plan-runs/plan-run-flags.ts'

const RUN_NAME: Flag = {
  name: 'run',
  value: 'NAME',
  help: 'Its name in the store: letters, digits and . _ -, at most 90. Default: the name of the plan and six characters.',
}
const INPUT: Flag = {
  name: 'input',
  value: 'JSON',
  help: 'What the plan refers to as its input. @file reads it, @- from standard input. Default null.',
}
const MADE_STORE: FlagGroup = {
  title: 'Where it is kept',
  flags: [
    {
      name: 'store',
      value: 'DIR',
      help: 'The folder that the run is kept in; it is made where it is missing. Also sqlite:FILE, and postgres://….',
    },
    KEY_FILE,
    SIGN_KEY,
  ],
}
const COMMENT: Flag = {
  name: 'comment',
  value: 'TEXT',
  help: 'Is written down beside the decision, and reaches the program.',
}

export const planProposeCommand: Command = {
  name: 'plan propose',
  summary: 'propose a run of a plan: it does nothing before exactly it is approved',
  usage: 'plan propose FILE --store DIR [flags]',
  description: [
    'Checks a plan as caisson plan check does, writes it into the store with its input and how its tools describe themselves, and shows what is to be approved: what it does, may call and may spend. The digest that is shown stands for exactly all of that; whoever approves, names it.',
    'A plan that is not right is refused with its problems (exit code 7), and nothing is written.',
  ],
  positionals: { name: 'FILE', min: 1, max: 1 },
  groups: [
    {
      title: 'What is proposed',
      flags: [
        INPUT,
        RUN_NAME,
        { name: 'approve', help: 'Approves it at once: for plans that you wrote yourself, and trust.' },
        {
          name: 'erasable',
          help: 'Encrypts its values under a key of the run, which caisson erase destroys. With an encryption key in --key-file that is so anyway.',
        },
      ],
    },
    MADE_STORE,
    PLAN_TOOLS,
    WHO,
  ],
  examples: [
    [
      'caisson plan propose report.yaml --store runs --tools ./tools.js',
      'what is to be approved, and the next step',
    ],
    [
      `caisson plan propose report.yaml --store runs --tools ./tools.js --input '{"day": "2026-01-01"}' --run report`,
      'with an input and a name',
    ],
    ['caisson plan propose report.yaml --store runs --tools ./tools.js --json', 'for machines'],
  ],
  run: async (given, io) => (await import('../plan-runs/propose-plan.ts')).proposePlan(given, io),
}

export const planApproveCommand: Command = {
  name: 'plan approve',
  summary: 'approve what was proposed, or what a node asks, by the digest of exactly that',
  usage: 'plan approve RUN --store DIR --digest DIGEST | --request DIGEST [flags]',
  description: [
    'With --digest: approves the proposal, so that caisson plan start may start it. With --request: what a node asks while the plan runs. caisson show RUN shows both, with their digests; a digest stands for exactly what was shown, and for nothing else (exit code 5).',
    'An approval of a request is used when the run goes on (caisson resume). Until then caisson plan withdraw takes it back.',
  ],
  positionals: { name: 'RUN', min: 1, max: 1 },
  groups: [
    {
      title: 'What you decide',
      flags: [
        {
          name: 'digest',
          value: 'DIGEST',
          help: 'Of what was proposed; with --request all, of all that is asked.',
        },
        REQUESTS,
        {
          name: 'value',
          value: 'JSON',
          help: 'Of one request: what stands in the place of what was shown. @file reads it. A call is made with it, if the plan allows that.',
        },
        COMMENT,
      ],
    },
    SIGNED_STORE,
    WHO,
  ],
  examples: [
    ['caisson plan approve report --store runs --digest sha256:…', 'what was proposed'],
    [
      'caisson plan approve report --store runs --request sha256:… --comment "looks right"',
      'what a node asks',
    ],
    [
      `caisson plan approve report --store runs --request sha256:… --value '{"rows": []}'`,
      'with other arguments',
    ],
    [
      'caisson plan approve report --store runs --request all',
      'show everything that is asked, with one digest for it',
    ],
  ],
  run: async (given, io) => (await import('../plan-runs/change-run.ts')).approveRun(given, io),
}

export const planRejectCommand: Command = {
  name: 'plan reject',
  summary: 'reject what was proposed, or what a node asks',
  usage: 'plan reject RUN --store DIR --reason TEXT [flags]',
  description: [
    'Rejects the proposal: it never runs. An approval of it is taken back in the same way, as long as the run has not started. With --request: rejects what a node asks; what becomes of the run then is what the plan says.',
  ],
  positionals: { name: 'RUN', min: 1, max: 1 },
  groups: [
    {
      title: 'What you decide',
      flags: [
        { name: 'reason', value: 'TEXT', help: 'Why: it is written down, and reaches the program.' },
        REQUESTS,
        { name: 'digest', value: 'DIGEST', help: 'With --request all: of all that is asked.' },
        COMMENT,
      ],
    },
    SIGNED_STORE,
    WHO,
  ],
  examples: [
    ['caisson plan reject report --store runs --reason "wrong day"', 'what was proposed'],
    [
      'caisson plan reject report --store runs --request sha256:… --reason "too expensive"',
      'what a node asks',
    ],
  ],
  run: async (given, io) => (await import('../plan-runs/change-run.ts')).rejectRun(given, io),
}

export const planWithdrawCommand: Command = {
  name: 'plan withdraw',
  summary: 'take a decision over a request back, before the run has gone on with it',
  usage: 'plan withdraw RUN --store DIR --request DIGEST [flags]',
  description: [
    'A decision over what a node asks can be taken back until the run has gone on with it. The request is open again then. The approval of a whole proposal is taken back by caisson plan reject.',
  ],
  positionals: { name: 'RUN', min: 1, max: 1 },
  groups: [
    {
      title: 'What you take back',
      flags: [{ name: 'request', value: 'DIGEST', repeatable: true, help: 'The request that was decided.' }],
    },
    SIGNED_STORE,
    WHO,
  ],
  examples: [['caisson plan withdraw report --store runs --request sha256:…', 'ask again']],
  run: async (given, io) => (await import('../plan-runs/change-run.ts')).withdrawDecision(given, io),
}

export const planStartCommand: Command = {
  name: 'plan start',
  summary: 'start a run that was approved, and drive it until it ends or waits for somebody',
  usage: 'plan start RUN --store DIR [flags]',
  description: [
    'Drives the run until it has ended, or nothing goes on before somebody decides. Exit code 0: it completed, and its output is on stdout. 3: it failed. 4: a budget is used up. 5: something was denied or rejected. 6: it waits for a person or an event, or stands still. What to do next is said.',
    'On a terminal, the tree of its nodes is shown while it goes: how each stands, for how long, what is left of budgets, what waits for whom. In a pipe it is one line an event on stderr. With --json, stdout has one line of JSON for every event, and a last one with "status".',
    'Ctrl-C brings it to rest: caisson resume goes on with it. Whatever happens to this process, nothing that was done is done again without somebody having said so.',
    'With a FILE and --approve, the plan is proposed, approved and started at once: for plans that you wrote yourself, and trust.',
  ],
  positionals: { name: 'RUN', min: 1, max: 1 },
  groups: [
    MADE_STORE,
    PLAN_TOOLS,
    WHO,
    {
      title: 'A FILE instead of a RUN',
      flags: [
        { name: 'approve', help: 'Takes a FILE: proposes it, approves it in your name and starts it.' },
        INPUT,
        RUN_NAME,
      ],
    },
  ],
  examples: [
    ['caisson plan start report --store runs --tools ./tools.js', 'a run that was approved'],
    [
      'caisson plan start report.yaml --approve --store runs --tools ./tools.js',
      'a plan that you trust, at once',
    ],
    [
      'caisson plan start report --store runs --tools ./tools.js --json | jq -c "select(.status)"',
      'how it ended, for a machine',
    ],
  ],
  run: async (given, io) => (await import('../plan-runs/start-run.ts')).startRun(given, io),
}

export const planSendCommand: Command = {
  name: 'plan send',
  summary: 'tell a run that something happened outside which it waits for',
  usage: 'plan send RUN EVENT --store DIR [flags]',
  description: [
    'For nodes of the kind "wait" with an event: all that wait for EVENT go on with the value, when the run is gone on with (caisson resume). Where none waits for it, it is refused (exit code 2).',
  ],
  positionals: { name: 'RUN and EVENT', min: 2, max: 2 },
  groups: [
    {
      title: 'What happened',
      flags: [{ name: 'value', value: 'JSON', help: 'What comes with it. @file reads it. Default null.' }],
    },
    SIGNED_STORE,
    WHO,
  ],
  examples: [[`caisson plan send report next-day --store runs --value '"2026-01-02"'`, 'the day began']],
  run: async (given, io) => (await import('../plan-runs/change-run.ts')).sendEvent(given, io),
}

export const planEventsCommand: Command = {
  name: 'plan events',
  summary: 'everything that happened in a run of a plan, and what happens',
  usage: 'plan events RUN --store DIR [flags]',
  description: [
    'Prints the journal of a run, one line an event. On a terminal: number, time, node, what happened. In a pipe, with tabs in between: number, time, type, node, what happened. With --json, one line of JSON an event, as it is written down.',
  ],
  positionals: { name: 'RUN', min: 1, max: 1 },
  groups: [
    {
      title: 'Which events',
      flags: [
        { name: 'from', value: 'N', help: 'From this number on. The first event has the number 0.' },
        { name: 'follow', help: 'Goes on with what happens, until the run has ended or Ctrl-C.' },
        {
          name: 'type',
          value: 'TYPE',
          repeatable: true,
          help: 'Only events of this type: node_called, completed, ….',
        },
        {
          name: 'node',
          value: 'PATH',
          repeatable: true,
          help: 'Only those of this node and of the nodes inside of it.',
        },
      ],
    },
    PLAN_STORE,
  ],
  examples: [
    ['caisson plan events report --store runs', 'what happened so far'],
    ['caisson plan events report --store runs --follow', 'while another process drives it'],
    ['caisson plan events report --store runs --type node_called --json', 'every call that was made'],
  ],
  run: async (given, io) => (await import('../plan-runs/print-events.ts')).printEvents(given, io),
}
