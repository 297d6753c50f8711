/** A stop in a process of its own (Node, Bun, Deno): the leg comes on standard input, where it led goes to the output. */
import { text } from 'node:stream/consumers'
import { openRuntime } from '../../../src/entry/node.ts'
import { JOURNEY, type Leg, travel } from './journey.ts'

const leg = JSON.parse(await text(process.stdin)) as Leg
const runtime = await openRuntime(JOURNEY)
const stopover = await travel(runtime, leg)
await runtime.close()
console.log(JSON.stringify(stopover))
