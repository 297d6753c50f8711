import { describe, expect, it } from 'vitest'
import { flagsOfGrants } from './flags-of-grants.ts'

const READS = ['files.read', 'files.readText', 'files.list', 'files.stat']

describe('the flags that grant what a run had', () => {
  it.each([
    [[], ''],
    [READS, '--allow-read DIR'],
    [[...READS, 'files.write', 'files.mkdir', 'files.remove'], '--allow-write DIR'],
    [['net.fetch'], '--allow-net HOST'],
    [['shop.look', 'shop.order'], '--tools MODULE --grant shop.look --grant shop.order'],
    [
      ['files.read', 'net.fetch', 'shop.look'],
      '--allow-read DIR --allow-net HOST --tools MODULE --grant shop.look',
    ],
  ])('of %j', (names, flags) => {
    expect(flagsOfGrants(names).join(' ')).toBe(flags)
  })

  it('with what they reached, where that is known', () => {
    const scope = ['write /out put', 'read /out put', 'read /in', 'net a.example.com', 'root everything']
    expect(flagsOfGrants([...READS, 'net.fetch', 'shop.look'], scope)).toEqual([
      ...['--allow-write', '/out put', '--allow-read', '/in', '--allow-net', 'a.example.com'],
      ...['--tools', 'MODULE', '--grant', 'shop.look'],
    ])
  })
})
