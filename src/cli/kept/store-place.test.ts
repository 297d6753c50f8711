import { describe, expect, it } from 'vitest'
import { pathsOfPlace, placeOf } from './store-place.ts'

describe('what --store names', () => {
  it('is a folder, or a file of SQLite, from where the command was typed', () => {
    expect(placeOf('runs', '/home/me')).toEqual({ name: 'runs', kind: 'directory', at: '/home/me/runs' })
    const file = placeOf('sqlite:runs.db', '/home/me')
    expect(file).toEqual({ name: 'sqlite:runs.db', kind: 'sqlite', at: '/home/me/runs.db' })
    expect(pathsOfPlace(file)).toEqual(['/home/me/runs.db'])
  })

  it.each([
    ['sqlight:runs.db', 'Did you mean sqlite:runs.db?'],
    ['SQLITE:runs.db', 'Did you mean sqlite:runs.db?'],
    [' postgress://me:s3cr3t@host/0', 'Name a folder, sqlite:FILE, or postgres://'],
    ['redis://me:s3cr3t@host/0', 'Name a folder, sqlite:FILE, or postgres://'],
    ['sqlx://me:s3cr3t@host/0', 'Name a folder, sqlite:FILE, or postgres://'],
  ])('2: is no folder where it looks like another address: %s', (given, hint) => {
    let thrown: unknown
    try {
      placeOf(given, '/')
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ exit: 2, hint: expect.stringContaining(hint) })
    expect(JSON.stringify(thrown) + String(thrown)).not.toContain('s3cr3t')
  })

  it('2: is a folder on a drive of Windows, or one that is named by its path', () => {
    for (const given of ['C:\\runs', 'c:runs', './sqlight:runs.db', 'a/b:c']) {
      expect(placeOf(given, '/').kind).toBe('directory')
    }
  })

  it('is a database, with a schema', () => {
    expect(placeOf('postgres://me@host:5433/db?sslmode=require&schema=team', '/')).toEqual({
      name: 'postgres://me@host:5433/db?sslmode=require&schema=team',
      kind: 'postgres',
      at: 'postgres://me@host:5433/db?sslmode=require',
      schema: 'team',
    })
    expect(pathsOfPlace(placeOf('postgresql:///db', '/'))).toEqual([])
  })

  it.each([
    'postgres://me:s3cr3t@host/db',
    'postgres://host/db?user=me&password=s3cr3t',
    'postgres://me:s3cr3t%40@host/db?sslpassword=s3cr3t',
    'POSTGRES://me:s3cr3t@host/db',
    ' postgres://me:s3cr3t@host/db\n',
  ])('1: is shown without the password: %s', (given) => {
    const { name, at } = placeOf(given, '/')
    expect(name).not.toContain('s3cr3t')
    expect(at).toContain('s3cr3t')
  })

  it.each(['postgres:me:s3cr3t@host/db', 'postgres://me:s3cr3t@[/db', 'postgres:/me:s3cr3t@host'])(
    '1: is refused without being quoted: %s',
    (given) => {
      let thrown: unknown
      try {
        placeOf(given, '/')
      } catch (error) {
        thrown = error
      }
      expect(thrown).toMatchObject({ exit: 2 })
      expect(JSON.stringify(thrown) + String(thrown)).not.toContain('s3cr3t')
    },
  )
})
