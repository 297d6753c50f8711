/** At other moments than in the story, which test/browser/main-job.test.ts has told in every run of the tests. */
import { describe } from 'vitest'
import { itSurvives } from './killed-job.testkit.ts'

describe('a process that is killed', () => {
  itSurvives({
    'as soon as a checkpoint is on the disk': ({ type }) => type === 'checkpoint',
    'while its database does not answer': ({ type }) => type === 'intent',
    'while it hands over the report': (event) =>
      event.type === 'intent' && event.record.capability === 'artifacts.write',
  })
})
