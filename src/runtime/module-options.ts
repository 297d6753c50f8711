/** What an embedder gives of the modules of a program. */
import type { ImportMap } from '../program/import-map.ts'

/** A module as it is given. */
export interface ModuleSource {
  readonly source: string
  /** Default: `json` where the name ends in `.json`, else `js`. */
  readonly type?: 'js' | 'json'
}

/**
 * Gives a module that is imported and that `modules` does not have. It is asked once for each module of a program:
 * before the program starts for what is imported statically, else when `import()` asks.
 *
 * @param module a path from the root that begins with `./`, or a bare name: resolved and checked, never a URL, never
 *   absolute, never out of the root
 * @param from who imports it, and as what
 * @returns undefined or null where there is none. What it throws the guest does not see, but for a `CaissonError` with
 *   code `not_found`, `denied`, `path_denied` or `network_denied`
 */
export type LoadModule = (
  module: string,
  from: { readonly specifier: string; readonly referrer: string },
) => string | ModuleSource | undefined | null | Promise<string | ModuleSource | undefined | null>

export interface ModuleOptions {
  /**
   * Modules by what the program would import them as: a path from the root (`./lib/a.js`), or a bare name (`lodash`).
   * Paths that end in `.json` are JSON.
   */
  readonly modules?: Readonly<Record<string, string | ModuleSource>>
  /** Gives what `modules` does not have. */
  readonly loadModule?: LoadModule
  /** What specifiers stand for, as in a page. */
  readonly importMap?: ImportMap
}
