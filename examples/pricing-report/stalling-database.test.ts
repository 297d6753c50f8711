import { describe, expect, it } from 'vitest'
import { stallOnce } from './stalling-database.ts'

describe('a database that stalls once', () => {
  it('hangs and fails the first call without reaching the database, then works', async () => {
    const reached: string[] = []
    const database = {
      name: 'real',
      query: async (sql: string) => {
        reached.push(sql)
        return [database.name]
      },
      close: async () => 'closed',
    }
    const stalling = stallOnce(database, ['query'], 1)
    expect(stalling.name).toBe('real')
    expect(await stalling.close()).toBe('closed')
    await expect(stalling.query('first')).rejects.toThrow('the connection was lost')
    expect(await stalling.query('second')).toEqual(['real'])
    expect(reached).toEqual(['second'])
  })
})
