import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import type { RunStore } from '../../../src/ports/run-store.ts'
import { describeRunStore } from '../run-store.contract.ts'
import { openDirectoryRunStore } from './directory-run-store.node.ts'

const scratch = mkdtempSync(join(tmpdir(), 'caisson-store-'))
const opened: RunStore[] = []
let places = 0

afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()))
  rmSync(scratch, { recursive: true, force: true })
})

async function open(path: string): Promise<RunStore> {
  const store = await openDirectoryRunStore(path)
  opened.push(store)
  return store
}

describeRunStore('directory', async () => {
  places += 1
  const path = join(scratch, `${places}`)
  return { store: await open(path), another: () => open(path) }
})
