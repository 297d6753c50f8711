/**
 * Where the engine keeps the functions by which it asks for modules, and which of its functions ask the host.
 *
 * Upstream sets them by an export that our build leaves out. They are written by hand, into the guest that begins:
 * the fields are part of its memory from then on. Read from this build (`UPSTREAM` in `scripts/engine/upstream.ts`)
 * by what that export changes; `guest-modules.test.ts` fails where they are others.
 */
export const MODULE_LOADER = {
  /** Offsets in the runtime struct, in bytes. */
  normalizeField: 176,
  loadField: 184,
  /** Indexes in the function table. */
  normalizeSlot: 51,
  loadSlot: 50,
} as const
