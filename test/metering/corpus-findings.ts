/** What a corpus of random modules must show: no problems, and enough work that their absence means something. */
import { expect } from 'vitest'
import type { ModuleFindings } from './harness/check-module.ts'

/** Floors under a corpus. */
export interface CorpusFloors {
  /** Fuel of the median module. */
  readonly medianFuel: number
  /** Share of the modules that use over 1,000 fuel. */
  readonly shareOver1000: number
  /** Distinct opcodes that ran. */
  readonly opcodes: number
  /** Share of the calls of exports that returned (the rest threw or trapped). */
  readonly shareReturned: number
  /** Share of the modules that were also stopped half-way. */
  readonly shareStopped: number
}

/** Gathers the findings of many modules. */
export class CorpusFindings {
  readonly #fuels: number[] = []
  readonly #opcodes = new Set<number>()
  readonly #ends = new Map<string, number>()
  readonly #problems: string[] = []
  #stopped = 0

  add(label: string, findings: ModuleFindings): void {
    this.#fuels.push(findings.fuel)
    if (findings.wasStopped) this.#stopped += 1
    for (const opcode of findings.opcodes.keys()) this.#opcodes.add(opcode)
    for (const [end, count] of findings.ends) this.#ends.set(end, (this.#ends.get(end) ?? 0) + count)
    if (findings.problems.length > 0)
      this.#problems.push(`${label}: ${findings.problems.slice(0, 3).join('\n  ')}`)
  }

  /** Fails on any problem, and when the corpus did less than it should. */
  expectSound(floors: CorpusFloors): void {
    expect(this.#problems).toEqual([])
    const fuels = this.#fuels.toSorted((a, b) => a - b)
    const calls = [...this.#ends.values()].reduce((total, count) => total + count, 0)
    expect(fuels[fuels.length >> 1]).toBeGreaterThanOrEqual(floors.medianFuel)
    expect(fuels.filter((fuel) => fuel > 1_000).length / fuels.length).toBeGreaterThanOrEqual(
      floors.shareOver1000,
    )
    expect(this.#opcodes.size).toBeGreaterThanOrEqual(floors.opcodes)
    expect(this.#stopped / fuels.length).toBeGreaterThanOrEqual(floors.shareStopped)
    expect((this.#ends.get('returned') ?? 0) / calls).toBeGreaterThanOrEqual(floors.shareReturned)
  }

  /** Opcodes that ran. */
  get opcodes(): ReadonlySet<number> {
    return this.#opcodes
  }
}
