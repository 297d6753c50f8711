/**
 * Kept runs across processes, as people start them: the built command, killed in mid-await, and other processes that go
 * on. Built before the tests run. What is only looked at afterwards, this process looks at.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cli, type Ended, type Folder, keptTools, makeFolder, start } from './cli.testkit.ts'

const SHOP = `
const { price } = await shop.price({ sku: 'A-1' })
const order = await shop.order({ sku: 'B-2', price })
const last = await shop.price({ sku: 'C-3' })
return [price, order, last.price]
`
const RIGHTS = [
  ...['--tools', 'tools.mjs', '--grant', 'shop.price', '--grant', 'shop.order'],
  // A Worker takes as long to start as a process.
  ...['--thread', 'host'],
]

let folder: Folder
beforeEach(() => {
  folder = makeFolder({ 'shop.js': SHOP, 'tools.mjs': keptTools('build'), 'here.mjs': keptTools('sources') })
})
afterEach(() => folder.remove())

/** In a process of its own. */
const caisson = (...args: string[]): Promise<Ended> => start([...args, ...RIGHTS], folder.path).end
/** In this process. */
const here = (...args: string[]): Promise<Ended> =>
  cli([...args, ...RIGHTS.map((flag) => (flag === 'tools.mjs' ? 'here.mjs' : flag))], { cwd: folder.path })
const done = (): readonly string[] => {
  const path = join(folder.path, 'done.log')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}

/** Starts a command and kills its process while an order waits for its answer. */
async function killedAtOrder(...args: string[]): Promise<void> {
  writeFileSync(join(folder.path, 'hang'), '')
  const started = start([...args, ...RIGHTS], folder.path)
  await started.said('hanging')
  started.signal('SIGKILL')
  expect((await started.end).code).toBe(null)
  rmSync(join(folder.path, 'hang'))
}

describe('a checkpoint file', () => {
  it('goes from process to process, once', async () => {
    const parked = await caisson('run', 'shop.js', '--stop-at-call', '2', '--checkpoint', 'f')
    expect(parked.code).toBe(6)
    expect(parked.stderr).toContain('call 2  shop.order')
    const bytes = readFileSync(join(folder.path, 'f'))
    const flipped = Buffer.from(bytes)
    flipped[bytes.length >> 1] = (flipped[bytes.length >> 1] ?? 0) ^ 1
    writeFileSync(join(folder.path, 'f'), flipped)
    expect((await here('resume', 'f')).code).toBe(7)
    writeFileSync(join(folder.path, 'f'), bytes)
    expect(await caisson('resume', 'f')).toMatchObject({ code: 0, stdout: '[5, "ordered B-2", 5]\n' })
    expect((await here('resume', 'f')).code).toBe(7)
    expect(done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
  })

  it('is still what to go on from when the process that went on from it was killed', async () => {
    await here('run', 'shop.js', '--stop-at-call', '1', '--checkpoint', 'f')
    await killedAtOrder('resume', 'f')
    const doubtful = await here('resume', 'f')
    expect(doubtful.code).toBe(6)
    expect(doubtful.stderr).toContain('call 2  shop.order  in doubt')
    expect(await caisson('resume', 'f', '--answer', '2="ordered B-2"')).toMatchObject({
      code: 0,
      stdout: '[5, "ordered B-2", 5]\n',
    })
    expect(done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
  })
})

it('of two processes that resume a run at once, one goes on, and the other is told when to ask again', async () => {
  const kept = ['--store', 'runs']
  expect((await here('run', 'shop.js', ...kept, '--run', 'r', '--stop-at-call', '2')).code).toBe(6)
  writeFileSync(join(folder.path, 'hang'), '')
  const both = [1, 2].map(() => start(['resume', 'r', ...kept, '--json', ...RIGHTS], folder.path))
  const refused = await Promise.race(both.map(({ end }) => end))
  expect(refused.code).toBe(7)
  expect(refused.json()).toMatchObject({
    status: 'refused',
    error: { code: 'store_conflict', retryAfterMs: expect.any(Number) },
  })
  expect(refused.stderr).toContain('Another process goes on with this run.')
  await Promise.race(both.map(({ said }) => said('hanging')))
  for (const { signal } of both) signal('SIGKILL')
  await Promise.all(both.map(({ end }) => end))
  rmSync(join(folder.path, 'hang'))
  expect(await here('resume', 'r', ...kept, '--answer', '2="ordered B-2"')).toMatchObject({ code: 0 })
  expect(done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
})

describe('a run in a store whose process is killed', () => {
  it('goes on with nothing done twice', async () => {
    await killedAtOrder('run', 'shop.js', '--store', 'runs', '--run', 'r')
    expect(done()).toEqual(['price A-1', 'order B-2'])
    const doubtful = await here('resume', 'r', '--store', 'runs', '--json')
    expect(doubtful.code).toBe(6)
    expect(doubtful.json()).toMatchObject({ status: 'suspended', inDoubt: [2] })
    expect(done()).toHaveLength(2)
    const finished = await caisson('resume', 'r', '--store', 'runs', '--answer', '2="ordered B-2"')
    expect(finished).toMatchObject({ code: 0, stdout: '[5, "ordered B-2", 5]\n' })
    expect(done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
  })

  it('makes the call in doubt again when somebody says so', async () => {
    await killedAtOrder('run', 'shop.js', '--store', 'runs', '--run', 'r')
    expect(await caisson('resume', 'r', '--store', 'runs', '--confirm', '2')).toMatchObject({
      code: 0,
      stdout: '[5, "ordered B-2", 5]\n',
    })
    expect(done()).toEqual(['price A-1', 'order B-2', 'order B-2', 'price C-3'])
  })
})
