/** Components that are made here, of a few lines of text, with the tools that make the samples. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { componentEmbed, componentNew, parse } from '@bytecodealliance/jco-transpile/wasm-tools'
import { SAMPLES_FOLDER } from '../../scripts/samples/sample.ts'

const ADAPTER = join(SAMPLES_FOLDER, 'adapter/wasi_snapshot_preview1.reactor.wasm')

async function made(world: string, wat: string, usesWasi: boolean): Promise<Uint8Array> {
  const embedded = await componentEmbed({ binary: await parse(wat), witSource: world, world: 'guest' })
  return componentNew(embedded, usesWasi ? [['wasi_snapshot_preview1', readFileSync(ADAPTER)]] : [])
}

/** A command of WASI 0.2 that says that it did not go well, and nothing else. */
export function failingCommand(): Promise<Uint8Array> {
  return made(
    `package local:guest;
world guest { export wasi:cli/run@0.2.0; }
package wasi:cli@0.2.0 { interface run { run: func() -> result; } }`,
    '(module (func (export "wasi:cli/run@0.2.0#run") (result i32) (i32.const 1)))',
    false,
  )
}

/** Writes `before` into `kept.txt`, asks its host with the file open, and writes the answer behind it. */
export function writesAroundACall(): Promise<Uint8Array> {
  return made(
    `package local:guest;
world guest {
  import host-call: func(name: string, arguments: string) -> result<string, string>;
  export run: func(input: string) -> result<string, string>;
}`,
    `(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $fd_close (param i32) (result i32)))
  (import "$root" "host-call" (func $host_call (param i32 i32 i32 i32 i32)))
  (memory (export "memory") 16)
  (data (i32.const 0) "kept.txt")
  (data (i32.const 16) "before ")
  ;; A buffer: address and length.
  (data (i32.const 32) "\\10\\00\\00\\00\\07\\00\\00\\00")
  (global $end (mut i32) (i32.const 4096))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at
      (i32.and
        (i32.sub (i32.add (global.get $end) (local.get 2)) (i32.const 1))
        (i32.sub (i32.const 0) (local.get 2))))
    (global.set $end (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func $must (param i32) (if (local.get 0) (then unreachable)))
  (func (export "run") (param $input i32) (param $length i32) (result i32)
    (local $file i32)
    ;; Below the first directory: create, with the right to write.
    (call $must
      (call $path_open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 8)
        (i32.const 1) (i64.const 64) (i64.const 0) (i32.const 0) (i32.const 40)))
    (local.set $file (i32.load (i32.const 40)))
    (call $must (call $fd_write (local.get $file) (i32.const 32) (i32.const 1) (i32.const 44)))
    (call $host_call (i32.const 0) (i32.const 4) (local.get $input) (local.get $length) (i32.const 64))
    ;; A result<string, string>: its text is a buffer.
    (call $must (call $fd_write (local.get $file) (i32.const 68) (i32.const 1) (i32.const 44)))
    (call $must (call $fd_close (local.get $file)))
    (i32.const 64)))`,
    true,
  )
}
