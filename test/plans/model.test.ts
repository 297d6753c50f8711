/**
 * Random plans, decisions, kills, resumes and clocks that jump, over the real gate, journal and runner: nothing is done
 * twice that must not be, nothing is lost, the state is what the journal folds to, and no budget is exceeded.
 */
import { it } from 'vitest'
import { checkSchedules } from './model/commands.ts'

it('holds for 500 schedules', { timeout: 600_000 }, () => checkSchedules(500))
