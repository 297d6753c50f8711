/** Which revision of a suite a folder holds. */
import { execFileSync } from 'node:child_process'

/** The commit that is checked out in `folder`, shortened; or that nobody knows. */
export function revisionOf(folder: string): string {
  try {
    return execFileSync('git', ['log', '-1', '--format=%h of %cs'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'an unknown revision'
  }
}
