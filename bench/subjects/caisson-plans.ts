/** Caisson's plans, in each of the stores that keep them. */
import { readFileSync } from 'node:fs'
import { chainPlan, planChain } from '../graph/caisson-chains.ts'
import { pagesProgram, pagesSteps, resumeGrowthTrial, resumeTrial } from '../graph/caisson-resume.ts'
import { keepInDirectory, keepInMemory, keepInPostgres, keepInSqlite } from '../graph/caisson-stores.ts'
import { bytesTrial, growthTrial, postgresSyncsTrial } from '../graph/caisson-trials.ts'
import { verifyTrial } from '../graph/caisson-verify.ts'
import { type Chain, chainTrial, LONG, SHORT } from '../graph/chain.ts'
import { graphSubject } from '../graph/graph-subject.ts'
import { syncsTrial } from '../graph/syncs.ts'
import { waitingCrowdTrial } from '../graph/waiting-crowd.ts'
import type { GraphTrials, Subject } from './subject.ts'

function plansIn(store: string, note: string, graph: GraphTrials): Subject {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return graphSubject({ id: `caisson-${store}`, version, note: `plans of Caisson, ${note}` }, graph)
}

export async function directoryChain(): Promise<Chain> {
  return planChain(await keepInDirectory(), chainPlan(SHORT))
}

export async function sqliteChain(): Promise<Chain> {
  return planChain(await keepInSqlite(), chainPlan(SHORT))
}

async function postgresChain(): Promise<Chain> {
  return planChain(await keepInPostgres(), chainPlan(SHORT))
}

export function openPlansInMemory(): Subject {
  return plansIn('memory', 'calls through the gate, a sealed journal, in memory', {
    'chain-200': async () => chainTrial(SHORT, await planChain(keepInMemory(), chainPlan(SHORT))),
    'chain-1000': async () => chainTrial(LONG, await planChain(keepInMemory(), chainPlan(LONG))),
    growth: () => growthTrial(keepInMemory),
    'resume-10': () => resumeTrial(keepInMemory(), pagesProgram, 10),
    'resume-100': () => resumeTrial(keepInMemory(), pagesProgram, 100),
    'resume-1000': () => resumeTrial(keepInMemory(), pagesProgram, 1_000),
    'resume-growth': () => resumeGrowthTrial(keepInMemory),
    'resume-steps': () => resumeTrial(keepInMemory(), pagesSteps, 990),
    'crowd-memory': waitingCrowdTrial,
    verify: () => verifyTrial(keepInMemory()),
  })
}

export function openPlansInDirectory(): Subject {
  return plansIn('directory', 'in files that are synced before a call is made', {
    'durable-200': async () => chainTrial(SHORT, await directoryChain()),
    syncs: () => syncsTrial('caisson-directory'),
    bytes: () => bytesTrial(keepInDirectory),
  })
}

export function openPlansInSqlite(): Subject {
  return plansIn('sqlite', 'in a file of SQLite, likewise', {
    'durable-200': async () => chainTrial(SHORT, await sqliteChain()),
    syncs: () => syncsTrial('caisson-sqlite'),
    bytes: () => bytesTrial(keepInSqlite),
  })
}

export function openPlansInPostgres(): Subject {
  return plansIn('postgres', 'on the server that DBOS uses', {
    'durable-200': async () => chainTrial(SHORT, await postgresChain()),
    syncs: () => postgresSyncsTrial(postgresChain),
  })
}
