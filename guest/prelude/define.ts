/** Properties as those of the built-ins are: there, but not enumerable. */

const { defineProperty } = Object

// Without a prototype: a getter that a guest puts on `Object.prototype` would otherwise be part of it.
const descriptor: PropertyDescriptor = Object.assign(Object.create(null), {
  value: undefined,
  writable: true,
  configurable: true,
  enumerable: false,
})

/** Puts `value` on `object`. Safe at any time: also when a guest has changed every global. */
export function define(object: object, name: PropertyKey, value: unknown): void {
  descriptor.value = value
  defineProperty(object, name, descriptor)
  descriptor.value = undefined
}
