import { describe, expect, it } from 'vitest'
import { BULK_BY_OPCODE, BULK_PRICES, COST_TABLE_DIGEST, fuelCost } from './cost.ts'
import { OP } from './opcode-table.ts'

describe('the cost table', () => {
  it('is frozen: a change of any price is a change of every engine and every recorded run', () => {
    expect(COST_TABLE_DIGEST).toBe('6d2d9085f2c321e24a622bfc2312683c2a009c226522e05517e079ddf2771508')
    expect(Object.isFrozen(BULK_PRICES)).toBe(true)
  })

  it('charges nothing for the shape of code, and something for all that runs', () => {
    for (const free of [OP.block, OP.loop, OP.else, OP.end, OP.try, OP.catch, OP.tryTable, OP.nop]) {
      expect(fuelCost(free)).toBe(0)
    }
    for (const paid of [
      OP.if,
      OP.br,
      OP.brIf,
      OP.brTable,
      OP.return,
      OP.call,
      OP.localGet,
      0xfd06e,
      0xfe01e,
    ]) {
      expect(fuelCost(paid)).toBeGreaterThan(0)
    }
  })

  it('moves at most one mebibyte in one piece', () => {
    for (const { unit, pieceUnits } of Object.values(BULK_PRICES)) {
      expect(pieceUnits * (unit === 'byte' ? 1 : 16)).toBeLessThanOrEqual(1 << 20)
    }
    expect(BULK_BY_OPCODE.size).toBe(8)
  })
})
