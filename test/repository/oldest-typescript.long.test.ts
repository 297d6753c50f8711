/** The declarations of the packed package, with the oldest TypeScript that they are promised for. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bringCommand } from '../../scripts/runtimes/bring-command.ts'
import { CONSUMER_PROJECTS, consumerOptions, installPackage, writeProject } from './consumer-projects.ts'

const OLDEST = '5.4.5'
const consumer = mkdtempSync(join(tmpdir(), 'caisson-consumer-'))
beforeAll(() => installPackage(consumer))
afterAll(() => rmSync(consumer, { recursive: true, force: true }))

describe(`with TypeScript ${OLDEST} the declarations of the package`, () => {
  it.each(Object.entries(CONSUMER_PROJECTS))(
    'serve %s',
    (name, project) => {
      const compiler = bringCommand(`typescript@${OLDEST}`, 'tsc')
      const folder = join(consumer, name.replace(/\W+/g, '-'))
      writeProject(folder, project)
      writeFileSync(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: consumerOptions(project) }),
      )
      const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
      expect(stdout).toBe('')
      expect(status).toBe(0)
    },
    120_000,
  )
})
