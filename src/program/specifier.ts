/**
 * What a specifier is, and where one that is a path leads.
 *
 * Paths resolve as URLs do under a root that is a folder: against the folder of the importing module, `.` and `..`
 * taken out. Two things differ, both so that no path means two things: one that leads above the root is refused,
 * where a URL stops there in silence, and characters that a URL would rewrite are refused.
 *
 * Invariants
 * 1. A name has no `.`, `..` or empty segment, so it lies within the root whatever reads it.
 * 2. Equal names are equal modules: there is one way to spell a name.
 */
import type { ErrorCode } from '../base/errors.ts'
import { MODULE_BOUNDS } from '../machine/module-graph.ts'

export type Specifier =
  /** Begins with `./` or `../`. */
  | { readonly kind: 'path' }
  /** Names a package, or what an import map says. */
  | { readonly kind: 'bare' }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly why: string }

/** A module that something resolved to, or why it did not. */
export type Resolved =
  | { readonly name: string }
  | { readonly code: ErrorCode; readonly why: string; readonly name?: undefined }

/** Modules of bare specifiers. A path cannot hold a colon, so no name of the one kind is one of the other. */
const PACKAGE = 'package:'

// `:` would make it a URL, `\` a slash, `%` an escape, `?` and `#` the end of the path.
const REWRITTEN = /[\p{Cc}\\%?#:]/u
const LONE_SURROGATE = /[\ud800-\udfff]/u

export function classify(specifier: string): Specifier {
  if (specifier.length > MODULE_BOUNDS.specifier) {
    return refused(`it has ${specifier.length} characters; ${MODULE_BOUNDS.specifier} are allowed`)
  }
  if (specifier === '') return refused('it is empty')
  if (LONE_SURROGATE.test(specifier)) return refused('it has a lone surrogate')
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(specifier)) {
    return refused('it is a URL: a guest imports what the host gives it, by path or by name')
  }
  if (specifier.startsWith('/')) return refused('it is absolute: begin it with ./ or ../')
  const character = REWRITTEN.exec(specifier)?.[0]
  if (character !== undefined) return refused(`it has the character ${JSON.stringify(character)}`)
  if (/^\.\.?(?:\/|$)/.test(specifier)) return { kind: 'path' }
  if (specifier.split('/').some((part) => part === '' || part === '.' || part === '..')) {
    return refused('a name has no empty segments, and none that is . or ..')
  }
  return { kind: 'bare' }
}

/** The name of the module that a bare specifier stands for. */
export function packageName(specifier: string): string {
  return PACKAGE + specifier
}

/** As an author would write it to import `name` from the root: how modules are named to the host. */
export function asSpecifier(name: string): string {
  return name.startsWith(PACKAGE) ? name.slice(PACKAGE.length) : `./${name}`
}

/**
 * @param specifier of kind `path`
 * @param referrer name of the module that imports it, or of the program; "" for the root itself
 */
export function resolvePath(specifier: string, referrer: string): Resolved {
  if (referrer.startsWith(PACKAGE)) {
    return {
      code: 'denied',
      why: `a package is one module: bundle "${referrer.slice(PACKAGE.length)}" first`,
    }
  }
  const segments = referrer.split('/').slice(0, -1)
  const parts = specifier.split('/')
  for (const [i, part] of parts.entries()) {
    const last = i === parts.length - 1
    if (part === '..') {
      if (segments.length === 0) return { code: 'denied', why: 'it leads out of the root' }
      segments.pop()
    } else if (part === '') {
      if (!last) return { code: 'denied', why: 'a path has no empty segments' }
    } else if (part !== '.') segments.push(part)
    if (last && (part === '' || part === '.' || part === '..')) {
      return { code: 'denied', why: 'it names a folder: name a file in it' }
    }
  }
  return { name: segments.join('/') }
}

/** Where a program stands among its modules: its own file name if that is a path in the root, else only the last part of it. */
export function programName(fileName: string): string {
  const isPath = classify(`./${fileName}`).kind === 'path'
  const whole = isPath ? resolvePath(`./${fileName}`, '') : undefined
  if (whole?.name === fileName) return fileName
  return fileName.split(/[/\\]/).pop() || 'program.js'
}

function refused(why: string, code: ErrorCode = 'denied'): Specifier {
  return { kind: 'refused', code, why }
}
