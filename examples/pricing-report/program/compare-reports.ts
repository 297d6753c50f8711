// One node of the plan: what a reader of the published report would see change, in words. It may call nothing.
import type { Summary } from './make-report.ts'
import { percent } from './wording.ts'

interface Input {
  /** Null where nothing is published. */
  readonly before: Summary | null
  readonly after: Summary
}

export default function compareReports({ before, after }: Input): readonly string[] {
  if (before === null) return ['Nothing is published yet: all of it is new.']
  const lines: string[] = []
  const tell = (what: string, was: string, is: string): void => {
    if (was !== is) lines.push(`${what}: ${is} (was ${was})`)
  }
  tell('Average change', percent(before.averageChange), percent(after.averageChange))
  for (const category of Object.keys({ ...before.categories, ...after.categories }).sort())
    tell(category, shown(before.categories[category]), shown(after.categories[category]))
  tell('Products priced', String(before.priced), String(after.priced))
  for (const note of after.notes) if (!before.notes.includes(note)) lines.push(`New note: ${note}`)
  return lines
}

const shown = (change: number | undefined): string => (change === undefined ? 'not there' : percent(change))
