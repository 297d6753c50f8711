/** Several real processes on one folder. */
import { describeRacing } from './racing-processes.contract.ts'

describeRacing({ newPlace: (children) => children.folder(), noticesDeath: true, rounds: 15, heads: 40 })
