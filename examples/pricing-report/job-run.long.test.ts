import { describe } from 'vitest'
import { itSurvives } from './killed-job.testkit.ts'

describe('a process that is killed', () => {
  itSurvives({
    'while its database does not answer': ({ type }) => type === 'intent',
    'while it hands over the report': (event) =>
      event.type === 'intent' && event.record.capability === 'artifacts.write',
  })
})
