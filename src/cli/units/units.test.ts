import { describe, expect, it } from 'vitest'
import { showCount } from '../../base/show-count.ts'
import { parseCount } from './parse-count.ts'
import { parseDuration, showDuration } from './parse-duration.ts'
import { parseInstant } from './parse-instant.ts'
import { parseSize, showSize, sizeMeant } from './parse-size.ts'
import { showAge } from './show-age.ts'

const usage = (message: RegExp): object =>
  expect.objectContaining({ exit: 2, code: 'usage', message: expect.stringMatching(message) })

describe('sizes', () => {
  it.each([
    ['1048576', 1_048_576],
    ['1_048_576', 1_048_576],
    ['32MiB', 33_554_432],
    ['32 mib', 33_554_432],
    ['64MB', 64_000_000],
    ['1.5GiB', 1_610_612_736],
    ['512b', 512],
  ])('reads %s', (text, bytes) => {
    expect(parseSize('memory', text)).toBe(bytes)
  })

  it('asks for the whole unit where a letter could mean two', () => {
    expect(() => parseSize('memory', '32m')).toThrow(usage(/32MiB \(of 1024\) or 32MB \(of 1000\)/))
  })

  it.each(['', 'lots', '-1MiB', '1TiB', '1e3', '0x10', '1..5MB', '9'.repeat(30), 'NaN', 'Infinity', '1MiB1'])(
    'refuses %j with the unit and an example',
    (text) => {
      expect(() => parseSize('memory', text)).toThrow(usage(/^--memory takes a size.*MiB/))
    },
  )

  it.each([
    ['16', 2 ** 20, 2 ** 31, '16MiB'],
    ['1.5', 2 ** 20, 2 ** 31, '1.5MiB'],
    ['512', 192 * 1024, 2 ** 20, '512KiB'],
    ['9999', 1, 1_000, undefined],
    ['16B', 2 ** 20, 2 ** 31, undefined],
    ['1KiB', 2 ** 20, 2 ** 31, undefined],
  ])('of %s bytes between %d and %d may have meant %s', (text, min, max, meant) => {
    expect(sizeMeant(text, min, max)).toBe(meant)
  })

  it('shows what people can read', () => {
    expect([12, 1536, 786_432, 67_108_864, 3_221_225_472].map(showSize)).toEqual([
      '12 B',
      '1.5 KiB',
      '768 KiB',
      '64 MiB',
      '3 GiB',
    ])
  })
})

describe('durations', () => {
  it.each([
    ['100ms', 100],
    ['5s', 5_000],
    ['0.25s', 250],
    ['2m', 120_000],
    ['1h', 3_600_000],
  ])('reads %s', (text, milliseconds) => {
    expect(parseDuration('timeout', text)).toBe(milliseconds)
  })

  it('does not guess the unit of a bare number', () => {
    expect(() => parseDuration('timeout', '5')).toThrow(usage(/5s or 5ms/))
  })

  it.each(['', 's', '-5s', '5 weeks', '1e9s', '5s5'])('refuses %j', (text) => {
    expect(() => parseDuration('timeout', text)).toThrow(usage(/^--timeout takes a duration.*5s/))
  })

  it('shows what people can read', () => {
    const hour = 3_600_000
    const durations = [0, 3.94, 9.96, 99.5, 999.4, 1_234, 59_990, 60_000, 125_000]
    const long = [hour - 1, 1.5 * hour, 47 * hour, 48 * hour, 50 * hour, 365 * 24 * hour]
    expect([...durations, ...long].map(showDuration)).toEqual([
      '0 ms',
      '3.9 ms',
      '10 ms',
      '100 ms',
      '999 ms',
      '1.2 s',
      '1 m',
      '1 m',
      '2 m 5 s',
      '1 h',
      '1 h 30 m',
      '47 h',
      '2 d',
      '2 d 2 h',
      '365 d',
    ])
  })
})

describe('counts', () => {
  it.each([
    ['0', 0],
    ['20_000_000_000', 20_000_000_000],
    ['2e10', 20_000_000_000],
    ['1.5e3', 1_500],
  ])('reads %s', (text, count) => {
    expect(parseCount('fuel', text, '1')).toBe(count)
  })

  it.each(['', '-1', '1.5', '1e30', '0x10', 'many', '1 000'])('refuses %j', (text) => {
    expect(() => parseCount('fuel', text, '1000')).toThrow(usage(/^--fuel takes a whole number such as 1000/))
  })

  it('shows thousands apart', () => {
    expect([0, 999, 1_000, 1_234_567].map(showCount)).toEqual(['0', '999', '1,000', '1,234,567'])
  })
})

describe('instants', () => {
  it.each([
    ['2026-01-01T00:00:00Z', Date.UTC(2026, 0, 1)],
    ['2026-01-01', Date.UTC(2026, 0, 1)],
    ['2026-01-01T01:30+01:30', Date.UTC(2026, 0, 1)],
    ['2024-02-29T00:00:00.5Z', Date.UTC(2024, 1, 29) + 500],
  ])('reads %s', (text, milliseconds) => {
    expect(parseInstant('now', text)).toBe(milliseconds)
  })

  it('asks for the zone', () => {
    expect(() => parseInstant('now', '2026-01-01T00:00:00')).toThrow(usage(/2026-01-01T00:00:00Z/))
  })

  it.each(['', 'today', '2026', '2026-02-30', '2026-13-01', '2026-01-01T25:00:00Z', '1767225600000'])(
    'refuses %j',
    (text) => {
      expect(() => parseInstant('now', text)).toThrow(usage(/ISO 8601/))
    },
  )
})

describe('ages', () => {
  it('are one number and one unit', () => {
    const ages = [-5_000, 0, 999, 1_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_400_000, 40 * 86_400_000]
    expect(ages.map(showAge)).toEqual([
      'now',
      'now',
      'now',
      '1 s',
      '59 s',
      '1 min',
      '59 min',
      '1 h',
      '1 d',
      '40 d',
    ])
  })
})
