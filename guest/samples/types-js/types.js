/**
 * The world `types` in JavaScript: how each type of WIT looks to a program. Integers of 64 bits are numbers here, exact
 * up to 2 ** 53: componentize-qjs has it so, and traps where it gets a BigInt.
 */

export const addU8 = (a, b) => (a + b) & 0xff
export const addS8 = (a, b) => ((a + b) << 24) >> 24
export const addU16 = (a, b) => (a + b) & 0xffff
export const addS16 = (a, b) => ((a + b) << 16) >> 16
export const addU32 = (a, b) => (a + b) >>> 0
export const addS32 = (a, b) => (a + b) | 0
export const addU64 = (a, b) => a + b
export const addS64 = (a, b) => a + b
export const addF32 = (a, b) => Math.fround(a + b)
export const addF64 = (a, b) => a + b
export const negate = (value) => !value

export function nextChar(value) {
  const code = value.codePointAt(0)
  if (code === 0xd7ff) return '\ue000'
  return String.fromCodePoint(code === 0x10ffff ? 0 : code + 1)
}

export const concat = (a, b) => a + b
export const reverse = (items) => items.slice().reverse()
export const lengths = (items) => items.map(utf8Length)

function utf8Length(text) {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0)
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}

export const mirror = ({ x, y }) => ({ x: y, y: x })
export const birthday = (person) => ({ ...person, age: (person.age + 1) & 0xff })

export function area({ tag, val }) {
  switch (tag) {
    case 'circle':
      return Math.PI * val * val
    case 'label':
      return utf8Length(val)
    case 'polygon':
      return Math.abs(
        val.reduce((twice, here, i) => {
          const next = val[(i + 1) % val.length]
          return twice + here.x * next.y - next.x * here.y
        }, 0),
      )
    default:
      return 0
  }
}

export function morph({ tag, val }) {
  switch (tag) {
    case 'circle':
      return { tag: 'label', val: 'circle' }
    case 'label':
      return { tag: 'polygon', val: [{ x: utf8Length(val), y: 0 }] }
    case 'polygon':
      return { tag: 'circle', val: val.length }
    default:
      return { tag: 'empty' }
  }
}

const COLOURS = ['red', 'green', 'blue']
export const nextColour = (colour) => COLOURS[(COLOURS.indexOf(colour) + 1) % COLOURS.length]
export const toggle = ({ read, write, execute }) => ({ read: !read, write: !write, execute: !execute })
export const half = (value) => (typeof value !== 'number' || value % 2 === 1 ? undefined : value / 2)

/** A `result` is a return or a throw. */
export function parse(text) {
  const number = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  if (number !== (number | 0)) throw 'not a number'
  return number
}

export function check(value) {
  if (!value) throw undefined
}

export const swap = ([number, text]) => [text, number]
/** `>>> 0`: componentize-qjs 0.4.5 hands numbers of 32 bits over as signed ones. */
export const sum = (...numbers) => numbers.reduce((total, number) => total + (number >>> 0), 0)
