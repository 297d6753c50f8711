/** What the network said, as the library says it: a reason for people and machines, no address, no internals. */
import { CaissonError } from '../../../src/base/errors.ts'

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'name not found',
  ENODATA: 'name not found',
  EAI_AGAIN: 'name server not answering',
  CERT_HAS_EXPIRED: 'certificate expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate for another host',
  HPE_HEADER_OVERFLOW: 'headers too large',
  Z_DATA_ERROR: 'compressed data damaged',
  Z_BUF_ERROR: 'compressed data cut off',
}

/** `network_failed` with the reason; a `CaissonError` is returned as it is. The original error is the cause. */
export function networkFailure(error: unknown, what: string): CaissonError {
  if (CaissonError.is(error)) return error
  const code: unknown = (error as { code?: unknown } | null)?.code
  const reason = typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,60}$/.test(code) ? code : 'unknown'
  const words = Object.hasOwn(WORDS, reason) ? WORDS[reason] : reason
  return new CaissonError('network_failed', `${what}: ${words}.`, { details: { reason }, cause: error })
}
