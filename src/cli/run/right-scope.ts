/**
 * What the rights of `--allow-*` reach, as texts that are kept with a run: `read /data`, `write /out`, `net api.example.com`.
 * Names of capabilities do not tell one directory from another; these do.
 *
 * Invariants
 * 1. Directories are named by their real paths, so that two ways to write one are one.
 * 2. What may be written may be read.
 */

/** @param directories real paths, and whether they may be written to; @param hosts as `--allow-net` names them */
export function scopeOf(
  directories: ReadonlyMap<string, { readonly writable: boolean }>,
  hosts: readonly string[],
): readonly string[] {
  const paths = [...directories].flatMap(([path, { writable }]) => [
    ...(writable ? [`write ${path}`] : []),
    `read ${path}`,
  ])
  return [...paths, ...new Set(hosts.map((host) => `net ${host.toLowerCase()}`))]
}

/** How many directories a scope names. */
export function countDirectories(scope: readonly string[]): number {
  return scope.filter((one) => one.startsWith('read ')).length
}

/** A scope as it is compared with the one before: hosts under a wildcard of then stand for it. */
export function scopeWithin(scope: readonly string[], before: readonly string[]): readonly string[] {
  const wildcards = before.filter((one) => one.startsWith('net *.'))
  const covered = (one: string): string | undefined =>
    wildcards.find((wildcard) => one.startsWith('net ') && one.endsWith(wildcard.slice('net *'.length)))
  return scope.map((one) => covered(one) ?? one)
}

/** For people: one text for what may be read and written. */
export function scopeTexts(scope: readonly string[]): readonly string[] {
  return scope.filter((one) => !one.startsWith('read ') || !scope.includes(one.replace('read ', 'write ')))
}
