import { it } from 'vitest'
import { checkSchedules } from './model/commands.ts'

it('holds for 10,000 schedules', { timeout: 3_600_000 }, () => checkSchedules(10_000))
