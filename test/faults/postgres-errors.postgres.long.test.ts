/** As `postgres-errors.postgres.test.ts`, at every statement of the story. */
import { expect, inject, it } from 'vitest'
import { FailingPostgres } from './failing-postgres.ts'

it.each(['before', 'after'] as const)(
  '4: a session that is ended %s a statement loses nothing, at whichever',
  { timeout: 900_000 },
  async (when) => {
    await using failing = new FailingPostgres(inject('postgresUrl'))
    const problems: string[] = []
    for (const { number } of await failing.operations())
      problems.push(...(await failing.problems(number, when)))
    expect(problems.slice(0, 5)).toEqual([])
  },
)
