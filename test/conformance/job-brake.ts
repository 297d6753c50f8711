/**
 * Ends a turn before the guest's queue of jobs is empty, so that a guest can be captured between any two steps of
 * its promises and async functions. Without it a turn runs until nothing is left to run, and a test that only
 * waits for promises of its own would never stand still in its middle.
 */
import type { EngineExports } from '../../src/isolate/engine-exports.ts'
import type { EngineInstance } from '../../src/isolate/engine-instance.ts'

export class JobBrake {
  readonly #instance: EngineInstance
  readonly #runtime: number
  readonly #exports: EngineExports
  #left = 0

  /** Holds the instance until `release`: no job runs that was not allowed. @param runtime address of the engine's runtime */
  constructor(instance: EngineInstance, runtime: number) {
    const engine = instance.exports
    this.#instance = instance
    this.#runtime = runtime
    this.#exports = engine
    const exports: EngineExports = {
      ...engine,
      QTS_IsJobPending: (pointer) => (this.#left > 0 ? engine.QTS_IsJobPending(pointer) : 0),
      QTS_ExecutePendingJob: (pointer, _most, lastContext) => {
        this.#left -= 1
        return engine.QTS_ExecutePendingJob(pointer, 1, lastContext)
      },
    }
    Object.assign(instance, { exports })
  }

  /** How many jobs the next turn may run. */
  allow(jobs: number): void {
    this.#left = jobs
  }

  /** Whether the guest has jobs that were not allowed to run. Between turns. */
  get holdsBack(): boolean {
    return this.#exports.QTS_IsJobPending(this.#runtime) !== 0
  }

  release(): void {
    Object.assign(this.#instance, { exports: this.#exports })
  }
}
