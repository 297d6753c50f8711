/**
 * @sebastianwessel/quickjs: QuickJS-ng in wasm in the host's thread, with a standard library that is set up for each
 * program. TypeScript is read by the `typescript` package.
 */
import { lookup, ONE_SHOT_VALUE, oneShotSource } from '../guest/programs.ts'
import { openingTrial, type Trial } from '../harness/trial.ts'
import { importPackage, peerVersion } from './peer-package.ts'
import type { Subject } from './subject.ts'

interface Evaluated {
  readonly ok: boolean
  readonly data?: unknown
}
interface Sandbox {
  readonly evalCode: (code: string) => Promise<Evaluated>
}
type RunSandboxed = (
  use: (sandbox: Sandbox) => Promise<Evaluated>,
  options: Readonly<Record<string, unknown>>,
) => Promise<Evaluated>
interface Package {
  loadQuickJs(variant: unknown): Promise<{ readonly runSandboxed: RunSandboxed }>
}

const NAME = '@sebastianwessel/quickjs'
const VARIANT = '@jitl/quickjs-ng-wasmfile-release-sync'

async function evaluate(run: RunSandboxed, code: string, options: Readonly<Record<string, unknown>>) {
  const { ok, data } = await run(({ evalCode }) => evalCode(code), options)
  if (!ok) throw new Error(`${NAME} failed`)
  return data
}

function oneShotTrial(run: RunSandboxed): Trial {
  let round = 0
  return {
    operations: 1,
    run: async () => {
      round += 1
      const body = oneShotSource('env.lookup', round)
      const code = `export default await (async () => {\n${body}})()`
      const value = await evaluate(run, code, { transformTypescript: true, env: { lookup } })
      if (value !== ONE_SHOT_VALUE) throw new Error(`${String(value)} is not ${ONE_SHOT_VALUE}`)
      return undefined
    },
  }
}

export async function openSebastianwesselQuickjs(): Promise<Subject> {
  const { loadQuickJs } = await importPackage<Package>(NAME)
  const { default: variant } = await importPackage<{ readonly default: unknown }>(VARIANT)
  const { runSandboxed } = await loadQuickJs(variant)
  return {
    id: 'sebastianwessel-quickjs',
    kind: 'sandbox',
    version: peerVersion(NAME),
    note: 'QuickJS-ng in wasm in the host thread; its standard library is set up for each program',
    acquire: { unable: 'has no empty guest: a program is given and run in one go (see first-result)' },
    firstResult: () =>
      openingTrial(
        async () => {
          if ((await evaluate(runSandboxed, 'export default 1 + 2', {})) !== 3) throw new Error('1 + 2 is 3')
        },
        () => {},
      ),
    hostCall: () => ({ unable: 'is measured as quickjs-emscripten, on which it stands' }),
    throughput: () => ({ unable: 'is measured as quickjs-emscripten, on which it stands' }),
    guest: { 'one-shot': () => oneShotTrial(runSandboxed) },
  }
}
