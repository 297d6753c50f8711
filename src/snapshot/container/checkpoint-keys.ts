/**
 * Keys that checkpoints are authenticated and encrypted with. They come from the host and stay there: no error, log
 * or checkpoint carries more of them than their id.
 */
import { CaissonError } from '../../base/errors.ts'
import { sameBytes } from '../same-bytes.ts'

export interface CheckpointKey {
  /** Names the key in checkpoints, which says nothing about its bytes: 1 to 64 characters of `A-Z a-z 0-9 . _ -`. */
  readonly id: string
  /** 32 random bytes, used for one purpose only. Not to be changed in place. */
  readonly bytes: Uint8Array
}

/** The key that is written with, and those that may still be read with. */
export interface KeyRing {
  readonly current: CheckpointKey
  readonly older?: readonly CheckpointKey[]
}

export interface CheckpointKeys {
  /** Where it is given, checkpoints are authenticated with it (HMAC-SHA-256), and others are refused. */
  readonly mac?: KeyRing
  /** Where it is given, checkpoints are encrypted with it (AES-256-GCM). One key serves for 2^32 checkpoints. */
  readonly encryption?: KeyRing
}

const KEY_BYTES = 32
const KEY_ID = /^[A-Za-z0-9._-]{1,64}$/

/** The same keys come with every checkpoint. */
const checked = new WeakSet<CheckpointKeys>()

/** @throws CaissonError `invalid_argument` unless all keys can be used, each by an id and for a purpose of its own */
export function checkKeys(keys: CheckpointKeys): void {
  if (checked.has(keys)) return
  checkShape(keys)
  const all = [...keysOf(keys.mac), ...keysOf(keys.encryption)]
  for (const { id, bytes } of all) {
    if (typeof id !== 'string' || !KEY_ID.test(id)) {
      throw invalid('The id of a checkpoint key is 1 to 64 characters of A-Z a-z 0-9 . _ -')
    }
    if (!(bytes instanceof Uint8Array) || bytes.length !== KEY_BYTES) {
      throw invalid(`The checkpoint key "${id}" must be ${KEY_BYTES} bytes.`)
    }
  }
  for (const ring of [keys.mac, keys.encryption]) {
    const ids = keysOf(ring).map(({ id }) => id)
    if (new Set(ids).size !== ids.length)
      throw invalid('Two checkpoint keys for one purpose have the same id.')
  }
  for (const mac of keysOf(keys.mac)) {
    if (keysOf(keys.encryption).some(({ bytes }) => sameBytes(bytes, mac.bytes))) {
      throw invalid(`The checkpoint key "${mac.id}" is given both for authentication and for encryption.`)
    }
  }
  checked.add(keys)
}

/** A purpose that is misspelt, and so has no key, would go unnoticed otherwise. */
function checkShape(keys: unknown): void {
  checkNames(keys, ['mac', 'encryption'], 'keys')
  for (const [purpose, ring] of Object.entries(keys as Record<string, unknown>)) {
    if (ring === undefined) continue
    checkNames(ring, ['current', 'older'], `keys.${purpose}`)
    const { current, older = [] } = ring as Partial<Record<string, unknown>>
    if (!Array.isArray(older)) throw invalid(`keys.${purpose}.older is a list of keys.`)
    for (const key of [current, ...older]) checkNames(key, ['id', 'bytes'], `each key of keys.${purpose}`)
  }
}

function checkNames(value: unknown, names: readonly string[], what: string): void {
  const shape = `${what} is { ${names.join(', ')} }`
  if (typeof value !== 'object' || value === null) throw invalid(`Checkpoint keys: ${shape}.`)
  const unknown = Object.keys(value).find((name) => !names.includes(name))
  if (unknown !== undefined) throw invalid(`Checkpoint keys: ${shape}, and has "${unknown.slice(0, 80)}".`)
}

export function findKey(ring: KeyRing | undefined, id: string): CheckpointKey | undefined {
  return keysOf(ring).find((key) => key.id === id)
}

function keysOf(ring: KeyRing | undefined): readonly CheckpointKey[] {
  return ring === undefined ? [] : [ring.current, ...(ring.older ?? [])]
}

function invalid(message: string): CaissonError {
  return new CaissonError('invalid_argument', message)
}
