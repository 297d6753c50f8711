/**
 * Global set-up of the browser tests: they get the path of a Chromium that starts, whatever it takes.
 *
 * Vitest runs it only when at least one browser test runs. A missing browser fails the run; browser
 * tests are never skipped. Tests read it with `inject('chromiumPath')`.
 */
import type { TestProject } from 'vitest/node'
import { ensureChromium } from './ensure-chromium.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Executable of a Chromium that was seen rendering a page. Start it with `--no-sandbox`. */
    chromiumPath: string
  }
}

export default async function provideChromium(project: TestProject): Promise<void> {
  const { executablePath } = await ensureChromium()
  project.provide('chromiumPath', executablePath)
}
