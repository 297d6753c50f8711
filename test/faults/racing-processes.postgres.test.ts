/** Several real processes on one schema of Postgres. */
import { inject } from 'vitest'
import { describeRacing } from './racing-processes.contract.ts'

let schemas = 0

describeRacing({
  newPlace: () => {
    schemas += 1
    return `${inject('postgresUrl')}#racing_${process.pid}_${schemas}`
  },
  noticesDeath: false,
  rounds: 4,
  heads: 8,
})
