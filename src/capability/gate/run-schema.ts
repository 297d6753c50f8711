/**
 * Runs a Standard Schema over a value, as the foreign code that it is.
 *
 * Invariants
 * 1. Never throws, never rejects.
 * 2. What a schema complains about is read up to a fixed number of issues and characters, however many it made.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isThenable } from './is-thenable.ts'

/** What a schema said. */
export type Verdict =
  | { readonly valid: true; readonly value: unknown }
  | { readonly valid: false; readonly issues: string; readonly cause?: unknown }

const MAX_ISSUES = 8
const MAX_PATH_SEGMENTS = 12
const MAX_KEY = 40
const MAX_ISSUE = 200

/** A verdict; a promise of one where the schema validates asynchronously. */
export function runSchema(schema: StandardSchemaV1, value: unknown): Verdict | PromiseLike<unknown> {
  try {
    const result: unknown = schema['~standard'].validate(value)
    return isThenable(result) ? result : readVerdict(result)
  } catch (cause) {
    return { valid: false, issues: 'the schema could not be applied', cause }
  }
}

/** Reads what a schema answered. */
export function readVerdict(result: unknown): Verdict {
  try {
    if (typeof result !== 'object' || result === null) return notAResult(result)
    const { issues } = result as { issues?: unknown }
    if (issues === undefined || issues === null) {
      return 'value' in result ? { valid: true, value: result.value } : notAResult(result)
    }
    return { valid: false, issues: describeIssues(issues) }
  } catch (cause) {
    return { valid: false, issues: 'the schema could not be applied', cause }
  }
}

function notAResult(cause: unknown): Verdict {
  return { valid: false, issues: 'the schema gave no result', cause }
}

function describeIssues(issues: unknown): string {
  if (!Array.isArray(issues)) return 'it does not match'
  const lines: string[] = []
  const shown = Math.min(issues.length, MAX_ISSUES)
  for (let i = 0; i < shown; i++) lines.push(describeIssue(issues[i]))
  if (issues.length > shown) lines.push(`and ${issues.length - shown} more`)
  return lines.join('; ')
}

function describeIssue(issue: unknown): string {
  if (typeof issue !== 'object' || issue === null) return 'it does not match'
  const { message, path } = issue as { message?: unknown; path?: unknown }
  const said = typeof message === 'string' ? clip(message, MAX_ISSUE) : 'it does not match'
  if (!Array.isArray(path) || path.length === 0) return said
  let where = ''
  for (let i = 0; i < Math.min(path.length, MAX_PATH_SEGMENTS); i++) {
    const segment: unknown = path[i]
    const key: unknown =
      typeof segment === 'object' && segment !== null ? (segment as { key?: unknown }).key : segment
    where += typeof key === 'number' ? `[${key}]` : `.${clip(String(key), MAX_KEY)}`
  }
  if (path.length > MAX_PATH_SEGMENTS) where += '…'
  return `${where.replace(/^\./, '')}: ${said}`
}

function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`
}
