/** `caisson doctor`: what this runtime supports, whether the engine is the one that was built, and what to fix. */

import { escapeText } from '../../base/escape-text.ts'
import { ENGINE_MANIFEST } from '../../isolate/engine-manifest.ts'
import type { CliIo } from '../cli-io.ts'
import type { Command, GivenFlags } from '../command.ts'
import { type Check, worstOf } from '../doctor/check.ts'
import { checkEngineFiles, checkPrograms } from '../doctor/engine-checks.ts'
import { checkParked } from '../doctor/parked-checks.ts'
import { checkFiles, checkRuntime, checkSharedMemory, runtimeName } from '../doctor/runtime-checks.ts'
import { checkWasmFeatures } from '../doctor/wasm-features.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { KEY_FILE } from '../kept/keeping-flags.ts'
import { findPackageRoot } from '../package-root.ts'
import { jsonText } from '../render/json-text.ts'
import { type Style, styleFor } from '../render/style.ts'
import { hangText } from '../render/wrap-text.ts'

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'what this runtime supports, with fixes, and a self test',
  usage: 'doctor [flags]',
  description: [
    'Checks the runtime, its WebAssembly features, the engine files against the digests that they were built with, and runs a small program on this thread and in a Worker. Exits with 0 when programs can run (warnings included), with 7 when an engine file is missing or was changed, else with 1.',
    'With --store it also says which parked programs need which engine. A program goes on with the build that it was parked on: caisson resume takes that one by itself where it is at hand. Where it is not, finish the run with the version of caisson that has it, or run the program again with this one.',
  ],
  positionals: { name: '', min: 0, max: 0 },
  groups: [
    {
      title: 'What it looks at, too',
      flags: [
        { name: 'store', value: 'DIR', help: 'The runs in this folder, and the engines that they need.' },
        KEY_FILE,
      ],
    },
  ],
  examples: [
    ['caisson doctor', 'look at everything'],
    ['caisson doctor --json', 'for a bug report'],
    ['caisson doctor --store runs', 'after an update: what waits for an earlier engine'],
  ],
  run: examine,
}

async function examine(given: GivenFlags, io: CliIo): Promise<ExitCode> {
  const parked = await checkParked(given, io)
  const engineFiles = await checkEngineFiles()
  const checks: readonly Check[] = [
    checkRuntime(),
    ...checkWasmFeatures(),
    checkSharedMemory(),
    await checkFiles(),
    engineFiles,
    ...(engineFiles.status === 'ok' ? await checkPrograms() : []),
    ...parked,
  ]
  const status = worstOf(checks)
  const { version } = findPackageRoot()
  // As the entry for Node chooses it.
  const profile = process.versions.bun === undefined ? 'v8' : 'portable'
  if (given.has('json')) {
    const engine = { id: ENGINE_MANIFEST.id, profile }
    io.stdout.write(`${jsonText({ status, version, runtime: runtimeName(), engine, checks })}\n`)
  } else {
    const { columns } = io.stdout
    const title = `caisson ${version}, engine ${ENGINE_MANIFEST.id}, profile ${profile}`
    io.stdout.write(doctorReport(title, checks, columns, styleFor(io.stdout)))
  }
  if (engineFiles.status === 'fail') return EXIT.refusedInput
  return status === 'fail' ? EXIT.internal : EXIT.done
}

function doctorReport(title: string, checks: readonly Check[], columns: number, style: Style): string {
  const width = Math.max(30, Math.min(columns - 1, 100))
  const paint = { ok: style.green, warn: style.yellow, fail: style.red }
  const lines = [...hangText('', title, width), '']
  for (const { name, status, detail, fix } of checks) {
    const label = status.padEnd(6)
    const [first = '', ...others] = hangText(label, `${escapeText(name)}: ${escapeText(detail)}`, width)
    lines.push(paint[status](first.slice(0, label.length)) + first.slice(label.length), ...others)
    if (fix !== undefined) lines.push(...hangText('      fix: ', escapeText(fix), width).map(style.dim))
  }
  return `${lines.join('\n')}\n`
}
