/**
 * How often a step waits for a disk, counted where it happens: the calls of the process that runs the chain, seen by
 * strace, or what a Postgres server says of its log. The difference between few runs and more of them, so that making
 * a store does not count.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Trial } from '../harness/trial.ts'
import { SHORT } from './chain.ts'

/** Subjects that write files themselves. */
export type TracedSubject = 'caisson-directory' | 'caisson-sqlite' | 'langgraph-sqlite'

const FEW = 1
const MORE = 4

const ROOT: string = fileURLToPath(new URL('../..', import.meta.url))
const SCRIPT: string = fileURLToPath(new URL('./syncs-process.ts', import.meta.url))

/** @param countOf runs a chain so often, and says how many syncs there were in all */
async function perStep(countOf: (runs: number) => number | Promise<number>): Promise<Trial> {
  const few = await countOf(FEW)
  const syncs = ((await countOf(MORE)) - few) / ((MORE - FEW) * SHORT)
  return { operations: 1, run: () => syncs }
}

/** @throws Error where there is no strace, or it may not look */
export function syncsTrial(subject: TracedSubject): Promise<Trial> {
  return perStep((runs) => tracedSyncs(subject, runs))
}

function tracedSyncs(subject: TracedSubject, runs: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'caisson-bench-'))
  try {
    const log = join(folder, 'strace')
    const tracing = ['-f', '-qq', '-e', 'trace=fsync,fdatasync,sync_file_range,msync', '-e', 'signal=none']
    const node = [process.execPath, ...process.execArgv, SCRIPT, subject, String(runs)]
    const { error, status, stderr } = spawnSync('strace', [...tracing, '-o', log, '--', ...node], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    if (error !== undefined) throw new Error('not counted: there is no strace here')
    if (status !== 0) throw new Error(`not counted: ${stderr.trim().slice(-150)}`)
    return readFileSync(log, 'utf8').match(/^\d+ +\w+\(/gm)?.length ?? 0
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** @param countOf says how many syncs of its log the server knows of when whoever ran the chain has left it */
export function serverSyncsTrial(countOf: (runs: number) => Promise<number>): Promise<Trial> {
  return perStep(countOf)
}
