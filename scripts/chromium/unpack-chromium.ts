/**
 * Unpacks the Chromium that `@sparticuz/chromium` ships, for machines without a browser and without root.
 *
 * The package is made for one cloud function runtime: it unpacks into the system's temporary folder
 * and expects the libraries of that runtime. Here it runs in a child process whose temporary folder is
 * our cache, and a start script points the browser to the libraries and fonts that were unpacked with
 * it, so the result is one plain executable path that every driver can use.
 *
 * Invariants:
 * 1. The target folder appears complete or not at all (unpack beside it, then rename).
 * 2. Nothing is written outside the cache folder.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../run-command.ts'

/** NSS, NSPR and expat come with the package; glibc, libgcc and libm are everywhere where Node runs. */
const START_SCRIPT = `#!/bin/sh
# Starts the unpacked browser with the libraries and fonts that lie beside it.
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH="$here/al2023/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
FONTCONFIG_FILE="$here/fonts.conf"
export LD_LIBRARY_PATH FONTCONFIG_FILE
exec "$here/chromium" "$@"
`

const FONT_CONFIGURATION = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`

/**
 * @param cacheDirectory an existing folder, or one that may be made; about 200 MB are written
 * @returns the path of the start script
 * @throws Error when the package is missing or cannot be unpacked
 */
export async function unpackChromium(cacheDirectory: string): Promise<string> {
  const target = join(cacheDirectory, 'packaged')
  const startScript = join(target, 'chromium-with-libraries')
  if (existsSync(startScript)) return startScript
  mkdirSync(cacheDirectory, { recursive: true })
  const partial = mkdtempSync(join(cacheDirectory, 'unpacking-'))
  try {
    const program = `import chromium from '@sparticuz/chromium'; await chromium.executablePath()`
    const unpacked = await runCommand(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: join(import.meta.dirname, '../..'),
      // The package looks at this name to decide whether its runtime's libraries are needed.
      env: { TMPDIR: partial, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' },
    })
    if (unpacked.code !== 0) throw new Error(unpacked.output.trim().slice(-2_000))
    writeFileSync(join(partial, 'fonts.conf'), FONT_CONFIGURATION)
    writeFileSync(join(partial, 'chromium-with-libraries'), START_SCRIPT)
    for (const executable of ['chromium', 'chromium-with-libraries']) {
      chmodSync(join(partial, executable), 0o755)
    }
    chmodSync(partial, 0o755)
    // What is left from an unpacking without a start script is broken; another process may have been faster.
    if (!existsSync(startScript)) {
      rmSync(target, { recursive: true, force: true })
      renameSync(partial, target)
    }
    return startScript
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}
