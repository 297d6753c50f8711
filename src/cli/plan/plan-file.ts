/**
 * A plan from a file, with the programs that it names: what all commands about plans begin with.
 *
 * Invariants
 * 1. Every problem has a place in a file: in the plan, or in a program or module that it names.
 * 2. What is embedded is what was read: the digest is that of the whole.
 */
import { basename, dirname, resolve } from 'node:path'
import { type Digest, sha256 } from '../../base/digest.ts'
import { CaissonError, type ErrorCode } from '../../base/errors.ts'
import { type DefinedPlan, readPlan } from '../../graph/plan/define-plan.ts'
import {
  embedSources,
  type ReadProgram,
  type ReadSource,
  type ReadWasm,
} from '../../graph/plan/embed-sources.ts'
import { type PlanText, parsePlanText } from '../../graph/plan/parse-plan-text.ts'
import type { Plan, Program } from '../../graph/plan/plan.ts'
import type { PlanProblem } from '../../graph/plan/plan-problem.ts'
import type { SourcePlace } from '../../program/source-place.ts'
import type { CliIo } from '../cli-io.ts'
import { readText } from '../run/read-text.ts'
import type { CodeReader } from './code-reader.ts'
import { readWasmFile } from './read-wasm-file.ts'

/** A problem with its place in a file. */
export interface PlacedProblem {
  /** As the person would name it; for programs and modules beside the plan, from its folder. */
  readonly file: string
  readonly place: SourcePlace
  /** JSON Pointer into the plan. */
  readonly at: string
  readonly problem: string
  /** What running the node would end with. */
  readonly code?: ErrorCode
  /** The text at which the place is. */
  readonly text: string | undefined
}

export interface PlanFile {
  /** As it was named. */
  readonly name: string
  /** Undefined where it is refused. */
  readonly defined: DefinedPlan | undefined
  readonly problems: readonly PlacedProblem[]
  /** How many there are; the first hundred are told. */
  readonly count: number
  /** A problem of the plan with its place. */
  placed(problem: PlanProblem): PlacedProblem
  readonly text: PlanText
  /** WebAssembly that nodes name by file: it goes with the proposal. */
  readonly wasm: ReadonlyMap<Digest, Uint8Array>
  /** Pointers of the programs, and of the nodes with WebAssembly, that were read from files. */
  readonly fromFiles: ReadonlySet<string>
}

/** @throws CliError where the file cannot be read */
export async function readPlanFile(name: string, reader: CodeReader, io: CliIo): Promise<PlanFile> {
  const source = await readText(name, 'plan', io)
  const text = parsePlanText(source)
  const placed = (problem: PlanProblem): PlacedProblem => ({
    file: name === '-' ? 'stdin' : name,
    place: text.placeOf(problem),
    at: problem.at,
    problem: problem.problem,
    ...(problem.code && { code: problem.code }),
    text: source,
  })
  const fromFiles = new Set<string>()
  const guests = new Map<Digest, Uint8Array>()
  const file = { name, text, placed, fromFiles, wasm: guests }
  const refused = (found: readonly PlanProblem[], count: number): PlanFile => ({
    ...file,
    defined: undefined,
    problems: found.map(placed),
    count,
  })
  if (text.problems.count > 0) return refused(text.problems.found, text.problems.count)
  const written = readPlan(text.document)
  if (written.plan === undefined) return refused(written.problems.found, written.problems.count)
  const folder = name === '-' ? undefined : dirname(resolve(io.cwd, name))
  const problems: PlacedProblem[] = []
  const embed = async (program: Program & { readonly file: string }, at: string): Promise<ReadProgram> => {
    fromFiles.add(at)
    const read = await reader.read(folder, program)
    for (const { problem, file: where, place, text: inText } of read.problems) {
      const stands = where !== undefined && place !== undefined
      const own = placed({ at: `${at}/file`, problem })
      problems.push(stands ? { ...own, file: beside(name, where), place, text: inText } : own)
    }
    return read.program
  }
  const wasm: ReadWasm = async (guest, at) => {
    fromFiles.add(at)
    const read = await readWasmFile(folder, guest)
    if (read.problem !== undefined) problems.push(placed({ at: `${at}/file`, problem: read.problem }))
    const digest = sha256(read.bytes)
    guests.set(digest, read.bytes)
    return digest
  }
  const { whole, tooLarge } = await embedWhole(written.plan.plan, embed, wasm)
  problems.push(...tooLarge.map(placed))
  if (problems.length > 0 || whole === undefined)
    return { ...file, defined: undefined, problems: problems.slice(0, 100), count: problems.length }
  const { plan: defined, problems: more } = readPlan(whole)
  return defined === undefined
    ? refused(more.found, more.count)
    : { ...file, defined, problems: [], count: 0 }
}

interface Embedded {
  /** Undefined where it would be too large. */
  readonly whole: Plan | undefined
  readonly tooLarge: readonly PlanProblem[]
}

async function embedWhole(plan: Plan, read: ReadSource, wasm: ReadWasm): Promise<Embedded> {
  try {
    return { whole: await embedSources(plan, read, wasm), tooLarge: [] }
  } catch (error) {
    if (!CaissonError.is(error, 'invalid_plan')) throw error
    return { whole: undefined, tooLarge: error.details.problems as readonly PlanProblem[] }
  }
}

/** A file beside the plan, as it would be named from where the plan was named. */
function beside(plan: string, file: string): string {
  const folder = plan.slice(0, plan.length - basename(plan).length)
  return folder + file
}
