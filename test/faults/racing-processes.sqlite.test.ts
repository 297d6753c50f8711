/** Several real processes on one file of SQLite. */
import { describeRacing } from './racing-processes.contract.ts'

describeRacing({
  newPlace: (children) => `sqlite:${children.folder()}/runs.db`,
  noticesDeath: true,
  rounds: 5,
  heads: 10,
})
