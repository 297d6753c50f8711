/**
 * LangGraph.js with its savers: a node per step, the number in a channel. As it comes, it writes a checkpoint while the
 * next step runs (`durability: 'async'`).
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { ensureSqlite } from '../../scripts/ensure-sqlite.ts'
import {
  type Chain,
  chainTrial,
  constantState,
  LONG,
  SHORT,
  STATE_STEPS,
  step,
  stepNames,
} from '../graph/chain.ts'
import { graphSubject } from '../graph/graph-subject.ts'
import { syncsTrial } from '../graph/syncs.ts'
import type { Trial } from '../harness/trial.ts'
import { importPackage, peerVersion } from './peer-package.ts'
import type { Subject } from './subject.ts'

interface State {
  readonly n: number
  readonly state?: string
}
interface Graph {
  addNode(name: string, run: (state: State) => Promise<Partial<State>>): Graph
  addEdge(from: string, to: string): Graph
  compile(options: { readonly checkpointer: Saver }): {
    invoke(state: State, config: object): Promise<State>
  }
}
interface Saver {
  deleteThread(thread: string): Promise<void>
}
interface MemorySaver extends Saver {
  readonly storage: object
  readonly writes: object
}
interface Package {
  readonly StateGraph: new (channels: unknown) => Graph
  readonly MemorySaver: new () => MemorySaver
  readonly Annotation: { (): unknown; Root(channels: object): unknown }
  readonly START: string
  readonly END: string
}
interface SqlitePackage {
  readonly SqliteSaver: new (database: Database.Database) => Saver
}

const NAME = '@langchain/langgraph'
const SQLITE_NAME = '@langchain/langgraph-checkpoint-sqlite'

type Durability = 'async' | 'exit'

/** @param state given to all steps, and changed by none */
async function chain(
  length: number,
  checkpointer: Saver,
  { state, durability = 'async' }: { readonly state?: string; readonly durability?: Durability } = {},
): Promise<Chain> {
  const { StateGraph, Annotation, START, END } = await importPackage<Package>(NAME)
  const names = stepNames(length)
  let graph = new StateGraph(Annotation.Root({ n: Annotation(), state: Annotation() }))
  for (const name of names) {
    graph = graph.addNode(name, async (given) => {
      if (given.state !== state) throw new Error('the state is another one')
      return { n: await step(given.n) }
    })
  }
  const stops = [START, ...names, END]
  for (const [i, name] of stops.entries()) graph = i === 0 ? graph : graph.addEdge(stops[i - 1] ?? '', name)
  const compiled = graph.compile({ checkpointer })
  let runs = 0
  return {
    run: async () => {
      runs += 1
      const config = { recursionLimit: length + 10, durability, configurable: { thread_id: `${runs}` } }
      return (await compiled.invoke({ n: 0, ...(state !== undefined && { state }) }, config)).n
    },
    forget: () => checkpointer.deleteThread(`${runs}`),
  }
}

async function createMemorySaver(): Promise<MemorySaver> {
  const { MemorySaver } = await importPackage<Package>(NAME)
  return new MemorySaver()
}

async function memoryTrial(length: number): Promise<Trial> {
  return chainTrial(length, await chain(length, await createMemorySaver()))
}

interface SqliteFile {
  readonly saver: Saver
  /** Of the database, when everything is in it. */
  bytes(): number
  remove(): Promise<void>
}

/** Its saver takes an open database: ours has the native part. */
async function openSqliteSaver(): Promise<SqliteFile> {
  await ensureSqlite()
  const { SqliteSaver } = await importPackage<SqlitePackage>(SQLITE_NAME)
  const folder = mkdtempSync(join(tmpdir(), 'caisson-bench-'))
  const path = join(folder, 'langgraph.db')
  const database = new Database(path)
  return {
    saver: new SqliteSaver(database),
    bytes: () => {
      database.pragma('wal_checkpoint(TRUNCATE)')
      return statSync(path).size
    },
    remove: async () => {
      database.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** A chain whose runs are in a file. */
export async function langgraphSqliteChain(length: number): Promise<Chain> {
  const { saver, remove } = await openSqliteSaver()
  return { ...(await chain(length, saver)), dispose: remove }
}

/** All bytes in nested maps and lists. */
function bytesIn(value: unknown): number {
  if (value instanceof Uint8Array) return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, member) => sum + bytesIn(member), 0)
}

async function memoryBytesTrial(durability: Durability): Promise<Trial> {
  const saver = await createMemorySaver()
  const state = constantState()
  await (await chain(STATE_STEPS, saver, { state, durability })).run()
  const bytes = bytesIn(saver.storage) + bytesIn(saver.writes)
  return { operations: 1, run: () => bytes }
}

async function sqliteBytesTrial(): Promise<Trial> {
  const { saver, bytes, remove } = await openSqliteSaver()
  await (await chain(STATE_STEPS, saver, { state: constantState() })).run()
  const stored = bytes()
  await remove()
  return { operations: 1, run: () => stored }
}

export function openLanggraphMemory(): Subject {
  return graphSubject(
    { id: 'langgraph-memory', version: peerVersion(NAME), note: 'LangGraph.js with MemorySaver' },
    {
      'chain-200': () => memoryTrial(SHORT),
      'chain-1000': () => memoryTrial(LONG),
      bytes: () => memoryBytesTrial('async'),
    },
  )
}

export function openLanggraphExit(): Subject {
  return graphSubject(
    {
      id: 'langgraph-exit',
      version: peerVersion(NAME),
      note: 'the same with durability: exit, which keeps nothing before the end',
    },
    { bytes: () => memoryBytesTrial('exit') },
  )
}

export function openLanggraphSqlite(): Subject {
  return graphSubject(
    { id: 'langgraph-sqlite', version: peerVersion(SQLITE_NAME), note: 'LangGraph.js with SqliteSaver' },
    {
      'durable-200': async () => chainTrial(SHORT, await langgraphSqliteChain(SHORT)),
      syncs: () => syncsTrial('langgraph-sqlite'),
      bytes: sqliteBytesTrial,
    },
  )
}
