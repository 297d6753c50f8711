/** Caisson's components, and what they are compared with: bindings of jco, an unmetered module, the system's Python. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { openRuntime } from '../../src/entry/node.ts'
import {
  cachedTrial,
  callTrial,
  hostCallTrial,
  instanceTrial,
  loopTrial,
} from '../component/component-trials.ts'
import {
  pythonLoopTrial,
  rubyLoopTrial,
  unmeteredPythonLoopTrial,
  unmeteredRubyLoopTrial,
} from '../component/interpreter-loop-trials.ts'
import { jcoCallTrial, jcoHostCallTrial, jcoInstanceTrial } from '../component/jco-trials.ts'
import {
  pythonPrepareTrial,
  pythonPrintTrial,
  pythonWarmTrial,
  rubyWarmTrial,
  systemPythonTrial,
} from '../component/python-trials.ts'
import type { ComponentTrials, Subject } from './subject.ts'

const OTHER = { unable: 'takes part in the suite component alone' }

function componentSubject(
  about: Pick<Subject, 'id' | 'version' | 'note'>,
  component: ComponentTrials,
): Subject {
  return {
    ...about,
    kind: 'component',
    acquire: OTHER,
    firstResult: OTHER,
    hostCall: () => OTHER,
    throughput: () => OTHER,
    component,
  }
}

const versionOf = (url: URL): string => (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version

export async function openComponents(): Promise<Subject> {
  const runtime = await openRuntime()
  return componentSubject(
    {
      id: 'caisson-component',
      version: versionOf(new URL('../../package.json', import.meta.url)),
      note: 'components and modules of Caisson, metered and capped, through `await component.call`',
    },
    {
      call: () => callTrial(runtime),
      'host-call': () => hostCallTrial(runtime),
      instance: instanceTrial,
      cached: () => cachedTrial(runtime),
      loop: () => loopTrial(true),
      'python-prepared': () => pythonPrepareTrial(runtime),
      'python-print': () => pythonPrintTrial(runtime),
      'python-loop': () => pythonLoopTrial(runtime),
      'ruby-loop': () => rubyLoopTrial(runtime),
      'python-warm': () => pythonWarmTrial(runtime),
      'ruby-warm': () => rubyWarmTrial(runtime),
    },
  )
}

export function openJco(): Subject {
  const entry = import.meta.resolve('@bytecodealliance/jco-transpile')
  return componentSubject(
    {
      id: 'jco',
      version: versionOf(new URL('../package.json', entry)),
      note: 'bindings that jco-transpile generates: neither metered nor capped, called on the stack of the caller',
    },
    { call: jcoCallTrial, 'host-call': jcoHostCallTrial, instance: jcoInstanceTrial },
  )
}

export function openUnmeteredCore(): Subject {
  return componentSubject(
    { id: 'core-unmetered', version: process.version, note: 'core modules as their makers built them' },
    {
      loop: () => loopTrial(false),
      'python-loop': unmeteredPythonLoopTrial,
      'ruby-loop': unmeteredRubyLoopTrial,
    },
  )
}

/** @throws Error where the system has no python3 */
export function openSystemPython(): Subject {
  const version = execFileSync('python3', ['--version'], { encoding: 'utf8' }).trim()
  return componentSubject(
    { id: 'python3', version, note: 'a process of the system for each script' },
    { 'python-print': systemPythonTrial, 'python-warm': systemPythonTrial },
  )
}
