/** Runs a documented snippet in this process, with the sources as they are. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { vi } from 'vitest'
import { ROOT } from './documented-pages.ts'

const FOLDER = join(ROOT, '.cache/docs-snippets')

/**
 * @param driver path of the module that it imports from: the whole entry would take seconds, and types are checked
 * elsewhere
 * @returns the lines that it printed
 */
export async function printedBy(name: string, code: string, driver: string): Promise<readonly string[]> {
  mkdirSync(FOLDER, { recursive: true })
  const file = join(FOLDER, `${name}-${process.pid}.ts`)
  writeFileSync(file, code.replaceAll("'caisson/bindings'", JSON.stringify(join(ROOT, driver))))
  const log = vi.spyOn(console, 'log').mockReturnValue()
  try {
    await import(/* @vite-ignore */ file)
    return log.mock.calls.map((values) => values.map(String).join(' '))
  } finally {
    log.mockRestore()
    rmSync(file)
  }
}
