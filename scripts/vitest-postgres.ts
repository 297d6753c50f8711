/**
 * Global set-up of the tests of the Postgres store: one real server for all of them, gone when they are done.
 *
 * Vitest runs it only where one of them runs. Tests read where it is with `inject('postgresUrl')`; each works in schemas
 * or databases of its own.
 */
import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of a server that runs, as its superuser. */
    postgresUrl: string
  }
}

export default async function providePostgres(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres()
  project.provide('postgresUrl', server.url)
  return () => server.stop()
}
