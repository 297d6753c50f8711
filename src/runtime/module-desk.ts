/** Opens the modules of programs, and puts what they import statically to their starts. */
import type { Capability } from '../capability/capability.ts'
import { type CapabilityTable, createCapabilityTable } from '../capability/capability-table.ts'
import type { Grant } from '../capability/grant.ts'
import { ImportScout } from '../isolate/import-scout.ts'
import { exhausted } from '../machine/exhausted.ts'
import { LOAD_MODULE } from '../machine/module-graph.ts'
import type { MachineStart } from '../machine/turn.ts'
import { programAttempts } from '../program/forms.ts'
import type { PrepareSource } from '../program/prepare-source.ts'
import type { MachineMaker } from './machine-maker.ts'
import type { ModuleOptions } from './module-options.ts'
import { MAY_IMPORT } from './module-reader.ts'
import type { RunOptions } from './options.ts'
import { ProgramModules } from './program-modules.ts'

/** Options with the modules that were opened for them. */
export type WithModules = { readonly programModules?: ProgramModules }

export interface ModuleDeskParts {
  /** Makes JavaScript of what is something else, for whom it is. */
  readonly prepareFor: (whose: Whose) => PrepareSource
  readonly machines: Pick<MachineMaker, 'scout'>
  readonly monotonic: () => number
  /** Told what an embedder's function threw. */
  readonly report: (cause: unknown) => void
}

type Whose = Pick<RunOptions, 'domain' | 'signal'>

export class ModuleDesk {
  readonly #parts: ModuleDeskParts

  constructor(parts: ModuleDeskParts) {
    this.#parts = parts
  }

  /** Options with their modules; as they are where none are given. @throws CaissonError `invalid_argument` */
  open<Options extends ModuleOptions & Whose>(options: Options): Options & WithModules {
    const { modules, loadModule, importMap } = options
    if (modules === undefined && loadModule === undefined && importMap === undefined) return options
    return { ...options, programModules: this.#open(options) }
  }

  /** For a run that is taken again: nobody is asked. */
  repeat<Options extends Whose>(options: Options): Options & WithModules {
    return { ...options, programModules: this.#open({ ...options, modules: {} }) }
  }

  /** A start with all that its program imports statically. @throws CaissonError `invalid_argument` */
  async start(start: MachineStart, options: ModuleOptions & Whose & WithModules): Promise<MachineStart> {
    const { source, form, fileName, limits } = start
    const { programModules } = options
    if (start.ended !== undefined) return start
    programModules?.begin(source, fileName, limits.wallMs)
    if (programAttempts(source, form)[0]?.form !== 'module') return start
    const opened = programModules ?? this.#open(options)
    if (programModules === undefined) opened.begin(source, fileName, limits.wallMs)
    const read = { ...start, source: opened.source }
    const whole = MAY_IMPORT.test(source) ? { ...read, modules: await opened.graph() } : read
    return opened.isSpent ? { ...start, ended: exhausted('wall', limits) } : whole
  }

  #open(options: ModuleOptions & Whose): ProgramModules {
    const { machines, monotonic, report, prepareFor } = this.#parts
    const { pool, tools } = machines.scout(options)
    return new ProgramModules(options, {
      scout: new ImportScout(pool, monotonic),
      monotonic,
      pause: tools.pause,
      report,
      prepare: prepareFor(options),
      signal: options.signal,
    })
  }
}

/** The capabilities of a program that is given modules, and its grants. */
export function withLoading(
  table: CapabilityTable,
  grants: readonly Grant[],
  modules: ProgramModules | undefined,
): { readonly table: CapabilityTable; readonly grants: readonly Grant[] } {
  if (modules?.mayBeAsked !== true) return { table, grants }
  const all: Capability[] = table.names.map((name) => table.get(name))
  return { table: createCapabilityTable([...all, modules.capability]), grants: [...grants, LOAD_MODULE] }
}
