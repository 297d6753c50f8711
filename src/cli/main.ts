#!/usr/bin/env node
/** The command `caisson`: hands the process to `runCli` and ends with its exit code. */
import { clipText, escapeText } from '../base/escape-text.ts'
import { EXIT } from './exit-code.ts'
import { openProcessIo } from './process-io.ts'
import { runCli } from './run-cli.ts'

process.on('uncaughtException', (error) => {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  const text = escapeText(clipText(`${name}: ${message}`, 2_000))
  process.stderr.write(`error: something outside of the program failed, most likely a tool: ${text}\n`)
  process.exit(EXIT.internal)
})

// Neither a Worker nor a tool that never answers keeps a process alive by itself.
setInterval(() => {}, 2 ** 30)

const io = openProcessIo()
const code = await runCli(process.argv.slice(2), io)
const unwritten = await io.flush()
if (unwritten !== undefined) {
  process.stderr.write(`caisson: the output could not be written: ${unwritten.message}\n`)
}
// Tools may keep connections open; what was to be done is done.
process.exit(code === EXIT.done && unwritten !== undefined ? EXIT.internal : code)
