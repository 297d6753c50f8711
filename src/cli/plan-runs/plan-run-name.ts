/** The name of a new run of a plan. */
import { LONGEST_RUN_NAME } from '../../runtime/plans/plan-runs.ts'
import { CliError } from '../cli-error.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { checkRunName, newRunName } from '../kept/run-name.ts'

/**
 * What `--run` says, if it is given, before anything else is looked at.
 * @throws CliError usage
 */
export function givenRunName(given: GivenFlags): string | undefined {
  const name = given.value('run')
  if (name === undefined || checkRunName(name, '--run').length <= LONGEST_RUN_NAME) return name
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `--run has ${name.length} characters: the name of a run of a plan has at most ${LONGEST_RUN_NAME}.`,
    hint: `Choose a shorter one, or none: it is then called like the plan, for example ${newRunName('report')}.`,
  })
}
