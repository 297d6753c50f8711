/**
 * What an author may have meant by an import that leads nowhere: the same name with an ending, with the other one of two
 * endings, or as a path where it was written as the name of a package.
 *
 * Nothing is guessed from likeness: what is proposed is there.
 */

/** What other systems add by themselves, in the order in which it is looked for. */
const ADDED = ['.js', '.mjs', '.ts', '.mts', '.json', '/index.js', '/index.ts']
const ENDING = /\.(m?)([jt])s$/

/** Each as the name of a module, and as what to write in the place of the specifier. */
export type Meant = readonly [name: string, specifier: string]

/**
 * @param specifier as it was written
 * @param path the module that it leads to, from the root; of a bare specifier, itself
 */
export function meantModules(specifier: string, path: string): readonly Meant[] {
  const meant: Meant[] = []
  const written = /^\.{1,2}\//.test(specifier) ? specifier : `./${specifier}`
  if (written !== specifier) meant.push([path, written])
  const other = (text: string): string =>
    text.replace(ENDING, (_, m: string, kind: string) => `.${m}${kind === 'j' ? 't' : 'j'}s`)
  if (ENDING.test(path)) meant.push([other(path), other(written)])
  for (const ending of ADDED) meant.push([path + ending, written + ending])
  return meant
}
