import { expect, inject, it } from 'vitest'
import { theSnippet } from './documented-pages.ts'
import { expectedOutput } from './expected-output.ts'
import { printedBy } from './store-snippet.ts'

it('the snippet about Postgres prints what it says', async () => {
  const { code } = theSnippet('ts', 'postgres')
  const snippet = code.replace('postgres://me@localhost/app', inject('postgresUrl'))
  const printed = await printedBy(
    'postgres',
    snippet,
    'host-bindings/store/postgres/postgres-run-store.node.ts',
  )
  expect(printed).toEqual(expectedOutput(code))
  expect(printed).not.toEqual([])
})
