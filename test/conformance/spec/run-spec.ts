/** The whole suite, plain and metered, and what came of it. */
import { convertScript, specScripts } from './spec-script.ts'
import { SpecWorld } from './spec-world.ts'

export interface SpecResult {
  readonly scripts: number
  /** Scripts that the converter cannot read. */
  readonly unread: readonly string[]
  readonly commands: number
  readonly passedPlain: number
  readonly passedMetered: number
  /** How many commands cannot be asked, by why. */
  readonly skipped: ReadonlyMap<string, number>
  /** How many commands met a feature that is not metered, by its name. */
  readonly refused: ReadonlyMap<string, number>
  /** Commands with another verdict when metered. */
  readonly changes: readonly string[]
  /** Commands that fail in both: what this engine does not do. */
  readonly failures: readonly string[]
}

export function runSpec(folder: string, progress: (script: string) => void): SpecResult {
  const names = specScripts(folder)
  const unread: string[] = []
  const skipped = new Map<string, number>()
  const refused = new Map<string, number>()
  const changes: string[] = []
  const failures: string[] = []
  const count = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + 1)
  let [commands, passedPlain, passedMetered] = [0, 0, 0]
  for (const name of names) {
    progress(name)
    const script = convertScript(folder, name)
    if (script === undefined) {
      unread.push(name)
      continue
    }
    const plain = new SpecWorld(script, false).run()
    const metered = new SpecWorld(script, true).run()
    for (const [at, command] of script.commands.entries()) {
      const [p = '', m = ''] = [plain[at], metered[at]]
      commands += 1
      if (p === 'passed') passedPlain += 1
      if (m === 'passed') passedMetered += 1
      const place = `${name}:${command.line} ${command.type}: ${p}`
      if (m.startsWith('refused: ')) count(refused, m.slice(9))
      else if (p !== m) changes.push(`${place}, metered: ${m}`)
      else if (p.startsWith('skipped: ')) count(skipped, p.slice(9))
      else if (p !== 'passed') failures.push(place)
    }
  }
  const scripts = names.length
  return { scripts, unread, commands, passedPlain, passedMetered, skipped, refused, changes, failures }
}

export function specReport(result: SpecResult): string {
  const list = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([what, times]) => `${what} ${times}`).join(', ') || 'none'
  return [
    `${result.scripts} scripts, ${result.unread.length} of them not read by the converter`,
    `${result.commands} commands; passed plain ${result.passedPlain}, metered ${result.passedMetered}`,
    `other verdict when metered: ${result.changes.length}`,
    `same failure in both: ${result.failures.length}`,
    `met a feature that is not metered: ${list(result.refused)}`,
    `not asked: ${list(result.skipped)}`,
  ].join('\n')
}

export function specDetails({ unread, changes, failures }: SpecResult): string {
  return ['Not read:', ...unread, '', 'Changes:', ...changes, '', 'Failures:', ...failures, ''].join('\n')
}
