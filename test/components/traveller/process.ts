/**
 * A stop in a process: the leg comes on standard input, where it led goes to the output, a line of JSON. What is suspended
 * waits there until it is killed.
 */
import { text } from 'node:stream/consumers'
import { openRuntime } from '../../../src/entry/node.ts'
import { type Arrival, type Leg, travel } from './legs.ts'

const leg = JSON.parse(await text(process.stdin)) as Leg
const tell = (arrival: Partial<Arrival>): void => console.log(JSON.stringify(arrival))
const waits = setInterval(() => {}, 60_000)
const arrival = await travel(openRuntime, leg, (from) => tell({ status: 'stuck', from }))
tell(arrival)
if (arrival.status !== 'suspended') clearInterval(waits)
