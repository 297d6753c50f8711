import { describe } from 'vitest'
import { itSurvives } from './killed-job.testkit.ts'

describe('a process that is killed', () => {
  itSurvives({ 'as soon as a checkpoint is on the disk': ({ type }) => type === 'checkpoint' })
})
