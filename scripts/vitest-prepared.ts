/**
 * Global set-up of the tests that prepare WebAssembly: a folder for what Workers make of modules, so that it is made once
 * in a run of the tests and not for each runtime that a test opens (`test/prepared-once.ts`). It is gone with the run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryFolder } from './memory-folder.ts'

const NAME = 'CAISSON_TESTS_PREPARED'

export default function openPreparedFolder(): () => void {
  // Set up by several projects: one folder for all. Processes of tests get the variable.
  process.env[NAME] ??= mkdtempSync(join(memoryFolder() ?? tmpdir(), 'caisson-prepared-'))
  const folder = process.env[NAME]
  return () => rmSync(folder, { recursive: true, force: true })
}
