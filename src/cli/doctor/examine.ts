/** What `caisson doctor` does. */
import { escapeText } from '../../base/escape-text.ts'
import { ENGINE_MANIFEST } from '../../isolate/engine-manifest.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { findPackageRoot } from '../package-root.ts'
import { jsonText } from '../render/json-text.ts'
import { type Style, styleFor } from '../render/style.ts'
import { hangText } from '../render/wrap-text.ts'
import { type Check, worstOf } from './check.ts'
import { checkEngineFiles, checkPrograms } from './engine-checks.ts'
import { checkParked } from './parked-checks.ts'
import { checkFiles, checkRuntime, checkSharedMemory, runtimeName } from './runtime-checks.ts'
import { checkWasmFeatures } from './wasm-features.ts'

/** @returns the exit code. @throws CliError */
export async function examine(given: GivenFlags, io: CliIo): Promise<ExitCode> {
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
