/** The main job: `npm start` runs a program that nobody has read, kills its process, and tells how it ends all the same. */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createNarrator } from './narrator.ts'
import { tellStory } from './story.ts'

const OUT = fileURLToPath(new URL('../../out/pricing-report', import.meta.url))

// Whoever reads the story may leave before its end, as `head` does.
process.stdout.on('error', () => process.exit(0))

const narrator = createNarrator(
  (line) => console.log(line),
  () => performance.now(),
  process.stdout.columns, // of a terminal; undefined in a pipe
)
const [outDirectory] = process.argv.slice(2)
const went = await tellStory({
  narrator,
  outDirectory: outDirectory === undefined ? OUT : resolve(outDirectory),
})
if (!went) process.exitCode = 3
