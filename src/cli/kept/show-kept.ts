/** What `caisson show` does. */
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { escapeText } from '../../base/escape-text.ts'
import { type DescribedRun, describeRun } from '../../runtime/describe-run.ts'
import type { CheckpointKeys } from '../../snapshot/container/checkpoint-keys.ts'
import { verifyCheckpoint } from '../../snapshot/container/verify-checkpoint.ts'
import { toTaggedJson } from '../../values/tagged-json.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { namesPlanRun } from '../plan-runs/is-plan-run.ts'
import { jsonText } from '../render/json-text.ts'
import { checkpointDetails, type DetailSetting, runDetails } from '../render/kept-details.ts'
import { styleFor } from '../render/style.ts'
import { hangText } from '../render/wrap-text.ts'
import { refusalOf } from '../run/refusal.ts'
import { type FoundFile, findKept } from './find-kept.ts'
import { flagsOfGrants } from './flags-of-grants.ts'
import { moreOf } from './go-on.ts'
import { readKeyFile } from './key-file.ts'
import { resumeCommand, TENANT, whereOf } from './run-place.ts'

/** Whether a file can still be gone on from, by the ledger beside it. */
type Freshness = 'newest' | 'older' | 'spent' | 'unknown'

const FRESHNESS: Readonly<Record<Freshness, string>> = {
  newest: 'It is the newest checkpoint of its run.',
  older: 'Its run has gone on since: it will be refused.',
  spent: 'Its run has ended: it will be refused.',
  unknown: 'There is no ledger beside it: nothing tells whether its run has gone on since.',
}

/** @returns the exit code. @throws CliError */
export async function showKept(given: GivenFlags, io: CliIo): Promise<ExitCode> {
  if (await namesPlanRun(given, io.cwd, false)) {
    return (await import('../plan-runs/show-plan-run.ts')).showPlanRun(given, io)
  }
  const keys = await readKeyFile(given.value('key-file'), io.cwd)
  const { file, kept } = await findKept(given, io.cwd)
  try {
    const verified = file && (await verifyFile(file, keys))
    const described =
      kept && (await describeRun(kept.store, kept.run, { ports: nodeCheckpointPorts, keys }, TENANT))
    const freshness = file && freshnessOf(file, described)
    if (given.has('json')) {
      const document = {
        file: file ? { ...file.inspected, verifiedBy: verified ?? null, freshness } : null,
        run: described ? runDocument(described) : null,
      }
      io.stdout.write(`${jsonText(document)}\n`)
      return EXIT.done
    }
    const style = styleFor(io.stdout)
    const setting: DetailSetting = { width: widthOf(io.stdout.columns), style, nowMs: Date.now() }
    const lines: string[] = []
    if (file !== undefined) {
      lines.push(style.bold(`checkpoint ${escapeText(file.place.given)}`))
      lines.push(
        ...checkpointDetails(file.inspected, verified, setting),
        ...hangText('             ', FRESHNESS[freshness ?? 'unknown'], setting.width),
      )
    }
    if (kept !== undefined && described !== undefined) {
      if (file !== undefined) lines.push('')
      lines.push(
        style.bold(`run ${kept.run} in ${escapeText(kept.storeName)}`),
        ...runDetails(described, setting),
      )
      if (mayGoOn(described)) {
        const { capabilities, scope } = described.start
        const rights = flagsOfGrants(
          capabilities.map(({ name }) => name),
          scope,
        )
        const end = described.end?.end
        const more = end?.status === 'exhausted' ? moreOf(end.limit) : []
        const wasm = described.start.program === undefined ? [] : ['--wasm', described.start.fileName]
        const command = resumeCommand(kept, given, freshness === 'newest', [...wasm, ...rights, ...more])
        lines.push('', `  ${escapeText(command)}`)
      }
    }
    io.stdout.write(`${lines.join('\n')}\n`)
    return EXIT.done
  } catch (error) {
    throw refusalOf(error, whereOf(kept))
  } finally {
    await kept?.store.close()
  }
}

/** The id of the key that it was verified with. @throws CaissonError `checkpoint_refused` where it was not written with it */
async function verifyFile(
  { bytes, inspected }: FoundFile,
  keys: CheckpointKeys,
): Promise<string | undefined> {
  if (keys.mac === undefined) return undefined
  await verifyCheckpoint(bytes, { ports: nodeCheckpointPorts, keys })
  return inspected.macKey
}

function freshnessOf({ inspected }: FoundFile, described: DescribedRun | undefined): Freshness {
  if (described === undefined) return 'unknown'
  if (described.head?.chain[0] !== inspected.id) return 'older'
  return mayGoOn(described) ? 'newest' : 'spent'
}

function mayGoOn({ end }: DescribedRun): boolean {
  return end === undefined || end.end.status === 'exhausted'
}

function runDocument({
  run,
  head,
  summary,
  chain,
  start,
  entries,
  since,
  open,
  undelivered,
  limits,
  end,
  waitsFor,
  wakeAtMs,
  engine,
}: DescribedRun): object {
  const { fileName, principal, label, nowMs, atMs = nowMs, capabilities, scope = [] } = start
  return {
    run,
    status: end?.end.status ?? summary?.status ?? null,
    at: summary?.atMs ? new Date(summary.atMs).toISOString() : null,
    start: {
      fileName,
      engine: start.engine,
      principal,
      label,
      at: new Date(atMs).toISOString(),
      capabilities: capabilities.map(({ name }) => name),
      scope,
    },
    engine,
    limits,
    log: { entries, sinceCheckpoint: since, position: head?.position ?? 0 },
    chain: chain.map(({ id, checkpoint }) => checkpoint ?? { id, missing: true }),
    pending: waitsFor,
    wakeAtMs: wakeAtMs ?? null,
    unanswered: open.map(({ id, capability, effect, args }) => ({
      id,
      capability,
      effect,
      args: toTaggedJson(args),
    })),
    undelivered,
  }
}

function widthOf(columns: number): number {
  return Math.max(30, Math.min(columns - 1, 100))
}
