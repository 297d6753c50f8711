/**
 * In which order test files run: those that are known to take long come first in their project, so that no core waits
 * for one of them at the end. Where the last run is known, vitest orders by it; a fresh clone it would order by size.
 */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** More than ten seconds, the longest first. */
const LONG: readonly string[] = [
  'test/browser/main-job.test.ts',
  'test/browser/killed-guests.test.ts',
  'test/browser/travel.test.ts',
  'test/browser/run-store.test.ts',
  'test/docs/snippets.test.ts',
  'test/samples/committed.test.ts',
  'test/cli/process.test.ts',
  'test/faults/killed-wasm-plan.test.ts',
  'test/cli/wasi-modules.test.ts',
  'test/cli/kept-processes.test.ts',
  'test/metering/random-modules.test.ts',
  'test/samples/differential.test.ts',
  'test/cli/new-component.test.ts',
  'test/faults/killed-process.test.ts',
  'test/plans/model.test.ts',
  'test/faults/disk-errors.test.ts',
  'test/wasi/run-module.test.ts',
  'test/attacks/components.test.ts',
  'test/faults/resuming-processes.test.ts',
  'test/faults/killed-plan.test.ts',
  'test/faults/killed-run.test.ts',
  'test/plans/wasm-grants.test.ts',
  'src/runtime/components/held-component.test.ts',
  'src/component/core/prepare-in-worker.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project)
      return own.sort((a, b) => this.#rank(a) - this.#rank(b))
    })
  }

  #rank({ moduleId }: TestSpecification): number {
    const place = LONG.indexOf(relative(this.ctx.config.root, moduleId).replaceAll('\\', '/'))
    return place === -1 ? LONG.length : place
  }
}
