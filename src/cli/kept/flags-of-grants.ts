/**
 * The flags of the command line that grant capabilities of these names. What a run keeps of its rights are the names,
 * so directories, hosts and the module of tools are placeholders.
 */

const WRITES: ReadonlySet<string> = new Set(['files.write', 'files.mkdir', 'files.remove'])

/** For example `['--allow-write', 'DIR', '--tools', 'MODULE', '--grant', 'prices.lookup']`. */
export function flagsOfGrants(names: readonly string[]): readonly string[] {
  const files = names.filter((name) => name.startsWith('files.'))
  const net = names.some((name) => name.startsWith('net.'))
  const tools = names.filter((name) => !/^(?:files|net)\./.test(name))
  return [
    ...(files.length === 0
      ? []
      : [files.some((name) => WRITES.has(name)) ? '--allow-write' : '--allow-read', 'DIR']),
    ...(net ? ['--allow-net', 'HOST'] : []),
    ...(tools.length === 0 ? [] : ['--tools', 'MODULE', ...tools.flatMap((name) => ['--grant', name])]),
  ]
}
