/** A new component in AssemblyScript: its strings are UTF-16, and so are those of the component. */
import { type ComponentTemplate, wrapText } from './component-template.ts'

export const ASSEMBLYSCRIPT_TEMPLATE: ComponentTemplate = {
  language: 'AssemblyScript',
  packages: { '@bytecodealliance/jco-transpile': '0.15.0', assemblyscript: '0.28.20' },
  source: 'assembly/index.ts',
  sourceText: `/** The host allocates with this what it hands in. */
export function cabi_realloc(old: usize, oldSize: usize, align: usize, newSize: usize): usize {
  if (newSize == 0) return align;
  return old == 0 ? heap.alloc(newSize) : heap.realloc(old, newSize);
}

/** \`result<string, string>\`, as it lies in memory: tag, address, code units. */
const result = memory.data(12, 4);

/** Not to be collected before the host has read it. */
let returned: string = "";

function finish(isErr: bool, text: string): usize {
  returned = text;
  store<u8>(result, isErr);
  store<usize>(result + 4, changetype<usize>(text));
  store<usize>(result + 8, text.length);
  return result;
}

/** The input is ours to free. */
export function run(data: usize, length: usize): usize {
  const input = length == 0 ? "" : String.UTF16.decodeUnsafe(data, length << 1);
  if (length > 0) heap.free(data);
  return finish(false, "Hello, " + input);
}

/** Called when the host has read the answer: nothing is on the stack, so this is the moment to collect. */
export function cabi_post_run(read: usize): void {
  returned = "";
  __collect();
}
`,
  buildText: `import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tellErrors } from './build-errors.mjs'

await tellErrors(async () => {
  const asc = createRequire(import.meta.url).resolve('assemblyscript/bin/asc.js')
  // Without \`abort\`, the guest traps where it would be called, and imports nothing.
  const flags = ['--runtime', 'minimal', '--optimizeLevel', '2', '--use', 'abort=', '--outFile', 'core.wasm']
  execFileSync(process.execPath, [asc, 'assembly/index.ts', ...flags], { stdio: 'inherit' })
  const core = readFileSync('core.wasm')

${wrapText("\n    stringEncoding: 'utf16',")}})
`,
}
