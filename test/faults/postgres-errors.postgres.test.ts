/**
 * Connections to a server that are lost in mid-transaction, and a server that dies: every statement in turn in the long
 * run.
 *
 * The step that meets it fails with a typed error, nothing that was acknowledged is lost, and the same store goes on.
 */
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { openPostgresRunStore } from '../../host-bindings/store/postgres/postgres-run-store.node.ts'
import { startPostgres } from '../../scripts/postgres-server.ts'
import { FailingPostgres } from './failing-postgres.ts'
import type { PostgresOperation } from './watched-postgres.ts'

const EVERY = 125
const HOUR_MS = 3_600_000
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

let failing: FailingPostgres
let operations: readonly PostgresOperation[]
beforeAll(async () => {
  failing = new FailingPostgres(inject('postgresUrl'))
  operations = await failing.operations()
})
afterAll(() => failing[Symbol.asyncDispose]())

it.each(['before', 'after'] as const)(
  '4: a session that is ended %s a statement loses nothing',
  async (when) => {
    const problems: string[] = []
    for (const [index, { number }] of operations.entries()) {
      if (index % EVERY === 7) problems.push(...(await failing.problems(number, when)))
    }
    expect(operations.length).toBeGreaterThan(150)
    expect(problems).toEqual([])
  },
)

it('4: an answer to COMMIT that is lost loses nothing, and a lease that was taken so is given again', async () => {
  const commits = operations.filter(({ sql }) => sql === 'COMMIT')
  const problems: string[] = []
  for (const { number } of commits.slice(0, 2)) problems.push(...(await failing.problems(number, 'after')))
  expect(problems).toEqual([])
})

it('1: a server that is killed loses nothing, and the same store goes on when it is back', async () => {
  const server = await startPostgres()
  try {
    const store = await openPostgresRunStore({ connectionString: server.url, timeoutMs: 5_000 })
    const lease = await store.lease('r', HOUR_MS)
    await store.append('r', 0, [text('a')], lease)
    const unsure = store.append('r', 1, [text('b')], lease).catch((error: unknown) => error)
    await server.kill()
    const outcome = await unsure
    if (outcome !== undefined) expect(outcome).toMatchObject({ code: 'store_failed' })
    const down = { code: 'store_failed' }
    for (const attempt of [
      () => store.head('r'),
      () => store.append('r', 2, [text('c')], lease),
      () => store.lease('q', HOUR_MS),
      () => lease.renew(HOUR_MS),
      () => openPostgresRunStore({ connectionString: server.url, timeoutMs: 1_000 }),
    ]) {
      await expect(attempt()).rejects.toMatchObject(down)
    }
    await server.start()
    const there = (await store.entries('r', 0, 9)).map((entry) => new TextDecoder().decode(entry))
    expect(there.join('')).toMatch(outcome === undefined ? /^ab$/ : /^ab?$/)
    expect(await lease.held()).toBe(true)
    await store.append('r', there.length, [text('c')], lease)
    await (await store.lease('q', HOUR_MS)).release()
    await server.kill()
    await store.close() // ends, though nothing can be given back
  } finally {
    await server.stop()
  }
})
