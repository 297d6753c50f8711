/**
 * `npm run bench [-- SUITE...] [--json] [--quick] [--only SUBJECT,...]`: measures, then prints tables or JSON.
 *
 * stdout carries the report alone; progress goes to stderr. Exits 2 on unknown arguments.
 */
import { parseArgs } from 'node:util'
import { FIGURE_DEFINITIONS, type FigureDefinition, figuresOf } from './figures.ts'
import { readEnvironment } from './harness/environment.ts'
import {
  type Dropout,
  type Entrant,
  FULL_PLAN,
  measure,
  type Plan,
  QUICK_PLAN,
  reasonOf,
} from './harness/measure.ts'
import { headLines, suiteLines } from './harness/print.ts'
import { caseReport, type Report, type SuiteReport, suiteReport } from './harness/report.ts'
import type { Suite } from './harness/suite.ts'
import { isUnable } from './harness/trial.ts'
import { arePeersInstalled, installPeers } from './install-peers.ts'
import { figureLines } from './print-figures.ts'

import { SUBJECTS } from './subjects/all.ts'
import type { Subject } from './subjects/subject.ts'
import { SUITES } from './suites/all.ts'
import { SUITES_ELSEWHERE, type SuiteElsewhere } from './suites/elsewhere.ts'

interface Choice {
  readonly suites: readonly Suite[]
  readonly elsewhere: readonly SuiteElsewhere[]
  readonly only: readonly string[] | undefined
  readonly plan: Plan
  readonly json: boolean
}

const USAGE = `npm run bench -- [SUITE...] [--json] [--quick] [--only SUBJECT,SUBJECT]

Suites:   ${[...SUITES, ...SUITES_ELSEWHERE].map(({ name }) => name).join(', ')}
Subjects: ${SUBJECTS.map(({ id }) => id).join(', ')}
--json    print one JSON document instead of tables
--quick   fewer and shorter rounds: a smoke test, not figures to publish
--only    measure these subjects alone`

function parseChoice(args: readonly string[]): Choice | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const unknown = positionals.find(
    (name) => ![...SUITES, ...SUITES_ELSEWHERE].some((suite) => suite.name === name),
  )
  if (unknown !== undefined) throw new TypeError(`There is no suite "${unknown}".`)
  const only = values.only?.split(',')
  const stranger = only?.find((id) => !SUBJECTS.some((subject) => subject.id === id))
  if (stranger !== undefined) throw new TypeError(`There is no subject "${stranger}".`)
  const isChosen = ({ name }: { readonly name: string }): boolean =>
    positionals.length === 0 || positionals.includes(name)
  return {
    suites: SUITES.filter(isChosen),
    // What was not named and leaves the subjects that were asked for is not wanted.
    elsewhere: SUITES_ELSEWHERE.filter(
      (suite) => isChosen(suite) && (!only || positionals.includes(suite.name)),
    ),
    only,
    plan: values.quick ? QUICK_PLAN : FULL_PLAN,
    json: values.json,
  }
}

async function openSubjects(
  only: readonly string[] | undefined,
): Promise<{ subjects: Subject[]; absent: Dropout[] }> {
  const subjects: Subject[] = []
  const absent: Dropout[] = []
  for (const { id, open } of SUBJECTS) {
    if (only && !only.includes(id)) continue
    try {
      subjects.push(await open())
    } catch (error) {
      absent.push({ subject: id, reason: reasonOf(error) })
    }
  }
  return { subjects, absent }
}

async function measureSuite(suite: Suite, subjects: readonly Subject[], plan: Plan): Promise<SuiteReport> {
  const cases = []
  for (const each of suite.cases) {
    process.stderr.write(`bench: ${suite.name} / ${each.name}\n`)
    const entrants: Entrant[] = []
    const absent: Dropout[] = []
    for (const subject of subjects.filter(({ kind }) => kind === suite.subjects)) {
      const ability = each.trialOf(subject)
      if (isUnable(ability)) absent.push({ subject: subject.id, reason: ability.unable })
      else entrants.push({ subject: subject.id, prepare: ability })
    }
    const rounds = Math.min(plan.rounds, each.rounds ?? plan.rounds)
    const { samples, dropouts } = await measure(entrants, { ...plan, rounds })
    cases.push(caseReport(suite, each, samples, [...absent, ...dropouts]))
  }
  return suiteReport(suite, cases)
}

async function main(choice: Choice): Promise<void> {
  if (!arePeersInstalled()) installPeers({ buildNative: false })
  const environment = readEnvironment(new Date())
  const { subjects, absent } = await openSubjects(choice.only)
  const suites: SuiteReport[] = []
  const head = { format: 'caisson-bench/1', environment, plan: choice.plan, absent } as const
  const infos = subjects.map(({ id, version, note }) => ({ id, version, note }))
  const width = process.stdout.columns ?? 100
  const show = (lines: readonly string[]): void => {
    if (!choice.json) console.log(lines.join('\n'))
  }
  show(headLines({ ...head, subjects: infos, suites }, width))
  for (const suite of choice.suites) {
    const measured = await measureSuite(suite, subjects, choice.plan)
    suites.push(measured)
    show(suiteLines(measured, width))
  }
  for (const suite of choice.elsewhere) {
    process.stderr.write(`bench: ${suite.name}\n`)
    try {
      const measured = suite.measure(choice.plan === QUICK_PLAN)
      suites.push(measured)
      show(suiteLines(measured, width))
    } catch (error) {
      // A runtime that cannot be brought costs its own figures only.
      process.stderr.write(`bench: ${suite.name}: ${reasonOf(error)}\n`)
    }
  }
  const isAsked = ({ measuredBy }: FigureDefinition): boolean =>
    [...choice.suites, ...choice.elsewhere].some(({ name }) => name === measuredBy.split('/')[0])
  const report: Report = { ...head, subjects: infos, suites }
  const figures = figuresOf(report, FIGURE_DEFINITIONS.filter(isAsked))
  show(figureLines(figures, width))
  if (choice.json) console.log(JSON.stringify({ ...report, figures }, null, 1))
}

try {
  const choice = parseChoice(process.argv.slice(2))
  if (choice === undefined) console.log(USAGE)
  else await main(choice)
  // Peers keep worker pools alive that nobody else would end.
  process.exit(0)
} catch (error) {
  if (!(error instanceof TypeError)) throw error
  console.error(`${error.message}\n\n${USAGE}`)
  process.exit(2)
}
