/** What tests in a real browser begin with: Chromium, and pages that are bundled with what is published. */
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright'
import { build } from 'vite'
import { inject } from 'vitest'
import { ROOT } from '../docs/documented-pages.ts'

/** The package as it is published: what a user's bundler sees. */
export const PUBLISHED: Readonly<Record<string, string>> = {
  'caisson/bindings': join(ROOT, 'dist/src/entry/bindings.js'),
  caisson: join(ROOT, 'dist/src/entry/browser.js'),
}

export async function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: inject('chromiumPath'),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
}

/** @param page a folder beside this file */
export async function bundlePage(page: string, outDir: string): Promise<void> {
  await build({
    root: join(import.meta.dirname, page),
    configFile: false,
    logLevel: 'error',
    resolve: { alias: PUBLISHED },
    build: { outDir, emptyOutDir: true },
    worker: { format: 'es' },
  })
}
