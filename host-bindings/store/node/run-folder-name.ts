/**
 * The folder of a run, named so that every file system takes it and keeps different runs apart.
 *
 * `run-` and the name in lower case, then `=` and, in hexadecimal, which letters were upper case. So no two runs fall
 * together where case does not count; no name is one of Windows' devices (`nul`, `con.txt`) or ends with a dot, which
 * Windows drops; and a person still reads the name.
 */
const FOLDER = /^run-([a-z0-9._-]{1,128})=([0-9a-f]{0,32})$/

/** The name of the folder for a valid name of a run: at most 165 ASCII characters. */
export function runFolderName(run: string): string {
  let upper = 0n
  for (let i = 0; i < run.length; i++) {
    const unit = run.charCodeAt(i)
    if (unit >= 0x41 && unit <= 0x5a) upper |= 1n << BigInt(i)
  }
  return `run-${run.toLowerCase()}=${upper === 0n ? '' : upper.toString(16)}`
}

/** The run whose folder has this name; undefined for names that no run has. */
export function runOfFolder(folder: string): string | undefined {
  const [, lower, marks = ''] = FOLDER.exec(folder) ?? []
  if (lower === undefined) return undefined
  const upper = marks === '' ? 0n : BigInt(`0x${marks}`)
  const run = Array.from(lower, (letter, i) =>
    (upper >> BigInt(i)) & 1n ? letter.toUpperCase() : letter,
  ).join('')
  // One run has one folder: marks on digits, or leading zeros, are nobody's.
  return runFolderName(run) === folder ? run : undefined
}
