/** Every subject, in the order of the tables. A new one is a file and a line here. */
import { openCaisson } from './caisson.ts'
import { openCaissonBare } from './caisson-bare.ts'
import {
  openPlansInDirectory,
  openPlansInMemory,
  openPlansInPostgres,
  openPlansInSqlite,
} from './caisson-plans.ts'
import { openComponents, openJco, openSystemPython, openUnmeteredCore } from './components.ts'
import { openDbos } from './dbos.ts'
import { openMetered, openUnmetered } from './engine-builds.ts'
import { openIsolatedVm } from './isolated-vm.ts'
import { openLanggraphExit, openLanggraphMemory, openLanggraphSqlite } from './langgraph.ts'
import { openMonty } from './monty.ts'
import { openNodeVm } from './node-vm.ts'
import { openQuickjsEmscripten } from './quickjs-emscripten.ts'
import { openQuickjsWasi } from './quickjs-wasi.ts'
import { openRun } from './run.ts'
import { openSebastianwesselQuickjs } from './sebastianwessel-quickjs.ts'
import type { SubjectSource } from './subject.ts'
import { openWorkerThreads } from './worker-threads.ts'
import { openXstate } from './xstate.ts'

export const SUBJECTS: readonly SubjectSource[] = [
  { id: 'caisson', open: openCaisson },
  { id: 'caisson-bare', open: openCaissonBare },
  { id: 'quickjs-emscripten', open: openQuickjsEmscripten },
  { id: 'quickjs-wasi', open: openQuickjsWasi },
  { id: 'monty', open: openMonty },
  { id: 'run', open: openRun },
  { id: 'sebastianwessel-quickjs', open: openSebastianwesselQuickjs },
  { id: 'isolated-vm', open: openIsolatedVm },
  { id: 'worker-threads', open: openWorkerThreads },
  { id: 'node-vm', open: openNodeVm },
  { id: 'caisson-memory', open: openPlansInMemory },
  { id: 'caisson-directory', open: openPlansInDirectory },
  { id: 'caisson-sqlite', open: openPlansInSqlite },
  { id: 'caisson-postgres', open: openPlansInPostgres },
  { id: 'xstate', open: openXstate },
  { id: 'langgraph-memory', open: openLanggraphMemory },
  { id: 'langgraph-exit', open: openLanggraphExit },
  { id: 'langgraph-sqlite', open: openLanggraphSqlite },
  { id: 'dbos', open: openDbos },
  { id: 'caisson-component', open: openComponents },
  { id: 'jco', open: openJco },
  { id: 'core-unmetered', open: openUnmeteredCore },
  { id: 'python3', open: openSystemPython },
  { id: 'engine-unmetered', open: openUnmetered },
  { id: 'engine-v8', open: () => openMetered('v8') },
  { id: 'engine-portable', open: () => openMetered('portable') },
]
