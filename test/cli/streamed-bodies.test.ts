/** A program that reads a body as it comes in, as people start it: its process is killed in the middle. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTestServer, type TestServer } from '../../host-bindings/fetch/http-server.testkit.ts'
import { type Folder, makeFolder, start } from './cli.testkit.ts'

const READ = `
const decoder = new TextDecoder()
const reader = (await fetch(input)).body.getReader()
const first = decoder.decode((await reader.read()).value)
await fetch(input + '/half')
let second
try {
  const { value } = await reader.read()
  second = decoder.decode(value)
} catch (error) {
  second = error.cause.code + ', again: ' + (await (await fetch(input)).text())
}
return first + ' ' + second`

let folder: Folder
let server: TestServer
/** Resolves when the program has read the first half. */
let half: Promise<void>
beforeEach(async () => {
  folder = makeFolder({ 'read.js': READ })
  let tell: () => void = () => {}
  half = new Promise((resolve) => {
    tell = resolve
  })
  let requests = 0
  server = await openTestServer((request, response) => {
    if (request.url === '/half') {
      tell()
      response.end()
      return
    }
    requests += 1
    response.write('one')
    if (requests > 1) response.end(' two') // else the first who asked never hears the end
  })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  folder.remove()
})

it('a run that is killed while it reads is resumed by another process, which hears that the body is gone', async () => {
  const rights = ['--allow-net', `127.0.0.1:${server.port}`]
  const kept = ['--store', 'runs', '--run', 'r']
  const running = start(
    ['run', 'read.js', '--input', JSON.stringify(server.origin), ...kept, ...rights],
    folder.path,
  )
  await half
  running.signal('SIGKILL')
  expect((await running.end).code).toBe(null)
  const resumed = await start(['resume', 'r', '--store', 'runs', ...rights], folder.path).end
  expect([resumed.code, resumed.stdout]).toEqual([0, 'one body_lost, again: one two\n'])
})
