/** What is done with runs beside running them: fetched when it is asked for, which most who run plans never do. */
export { compactRun } from './compact-run.ts'
export { eraseRun } from './erase-run.ts'
export { forkRun } from './fork-run.ts'
export { exportRun } from './transfer/export-run.ts'
export { readExport, writeImport } from './transfer/import-run.ts'
export { receiptsOf, verifyRun } from './verify/verify-run.ts'
