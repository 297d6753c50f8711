/**
 * The flags of the command line that grant capabilities of these names, and reach what they reached. The module of tools
 * is a placeholder: what a run keeps of it are names.
 */
import { LOAD_MODULE } from '../../machine/module-graph.ts'
import { scopeTexts } from '../run/right-scope.ts'

const WRITES: ReadonlySet<string> = new Set(['files.write', 'files.mkdir', 'files.remove'])

const FLAGS: Readonly<Record<string, string>> = {
  write: '--allow-write',
  read: '--allow-read',
  net: '--allow-net',
}

/**
 * For example `['--allow-write', '/out', '--tools', 'MODULE', '--grant', 'prices.lookup']`.
 * @param scope what they reached; directories and hosts are placeholders where it is not known
 */
export function flagsOfGrants(names: readonly string[], scope: readonly string[] = []): readonly string[] {
  const files = names.filter((name) => name.startsWith('files.'))
  const net = names.some((name) => name.startsWith('net.'))
  const tools = names.filter((name) => !/^(?:files|net)\./.test(name) && name !== LOAD_MODULE)
  const tooled = [
    ...(tools.length === 0 ? [] : ['--tools', 'MODULE', ...tools.flatMap((name) => ['--grant', name])]),
    ...(names.includes(LOAD_MODULE) ? ['--modules', 'DIR'] : []),
  ]
  if (scope.length > 0) return [...scopeTexts(scope).flatMap(flagOf), ...tooled]
  return [
    ...(files.length === 0
      ? []
      : [files.some((name) => WRITES.has(name)) ? '--allow-write' : '--allow-read', 'DIR']),
    ...(net ? ['--allow-net', 'HOST'] : []),
    ...tooled,
  ]
}

/** `write /out` as `['--allow-write', '/out']`. A log can be written by anybody: what is no right is left out. */
function flagOf(text: string): readonly string[] {
  const space = text.indexOf(' ')
  const kind = text.slice(0, space)
  const flag = Object.hasOwn(FLAGS, kind) ? FLAGS[kind] : undefined
  return flag === undefined ? [] : [flag, text.slice(space + 1)]
}
