/** What bindings that jco generates do in the suite `component`, with the same components and answers. */
import { readSample } from '../../scripts/samples/read-sample.ts'
import { transpile } from '../../test/samples/transpiled.ts'
import { openingTrial, type Trial } from '../harness/trial.ts'
import { CALLS } from './component-trials.ts'

export async function jcoCallTrial(): Promise<Trial> {
  const { instantiate } = await transpile(await readSample('tool-c'), 'tool')
  const tool = await instantiate({ 'host-call': { default: () => '' } })
  return {
    operations: CALLS,
    run: () => {
      for (let index = 0; index < CALLS; index += 1) if (tool.totals()[0] !== 0) throw new Error('wrong')
      return undefined
    },
  }
}

export async function jcoHostCallTrial(): Promise<Trial> {
  const { instantiate } = await transpile(await readSample('tool-c'), 'tool')
  const tool = await instantiate({ 'host-call': { default: (_name: string, json: string) => json } })
  return {
    operations: CALLS,
    run: () => {
      for (let index = 0; index < CALLS; index += 1)
        if (tool.run('a') !== '{"line":"a"}') throw new Error('wrong')
      return undefined
    },
  }
}

export async function jcoInstanceTrial(): Promise<Trial> {
  const { instantiate, imports } = await transpile(await readSample('wasi-probe-c'), 'probe')
  const any = (): unknown =>
    new Proxy(class {}, { get: (target, key) => Reflect.get(target, key) ?? class {} })
  const given = Object.fromEntries(imports.map((name) => [name, any()]))
  return openingTrial(
    () => instantiate(given),
    () => {},
  )
}
