/**
 * The named defences. `npm run test:defences` takes each one out, in a copy of the tree, and demands that
 * its tests notice. Add an entry with every guard that you write; CONTRIBUTING.md shows how.
 */
import type { Defence } from '../scripts/defence.ts'

export const DEFENCES: readonly Defence[] = [
  {
    name: 'paths-never-lead-upwards',
    against: 'A guest names a file outside the granted directory with `..`.',
    file: 'host-bindings/files/file-path.ts',
    find: "if (name === '..') return",
    replace: "if (name === '...') return",
    tests: ['host-bindings/files/files.test.ts'],
  },
  {
    name: 'file-quota',
    against: 'A guest fills the disk through a granted directory.',
    file: 'host-bindings/files/file-quota.ts',
    find: 'if (value <= limit) return',
    replace: 'if (value <= Number.POSITIVE_INFINITY) return',
    tests: ['host-bindings/files/files.test.ts'],
  },
  {
    name: 'escaped-controls',
    against: 'Guest output moves the cursor of the terminal or rewrites earlier lines.',
    file: 'src/base/escape-text.ts',
    find: "'[\\\\u0000-\\\\u001f\\\\u007f-\\\\u009f",
    replace: "'[\\\\u0000-\\\\u001a\\\\u007f-\\\\u009f",
    tests: ['src/base/escape-text.test.ts'],
  },
]
