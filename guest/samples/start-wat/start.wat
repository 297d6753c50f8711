;; A core module with a start section, which runs while the module is instantiated: before any export can be called,
;; and before a host that waits for `_start` or `_initialize` looks. It writes `early.txt` into the first directory.
(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "early.txt")
  (data (i32.const 16) "too early\n")
  ;; One buffer: address and length.
  (data (i32.const 32) "\10\00\00\00\0a\00\00\00")
  ;; What the last call returned: 0, an errno, or -1 before there was any.
  (global $errno (mut i32) (i32.const -1))

  (func $write
    (global.set $errno
      (call $path_open
        (i32.const 3) (i32.const 0)
        (i32.const 0) (i32.const 9)
        ;; create, and the right to write
        (i32.const 1) (i64.const 64) (i64.const 0) (i32.const 0)
        (i32.const 40)))
    (if (i32.eqz (global.get $errno))
      (then
        (global.set $errno
          (call $fd_write (i32.load (i32.const 40)) (i32.const 32) (i32.const 1) (i32.const 44))))))

  (start $write)
  (func (export "errno") (result i32) (global.get $errno))
  (func (export "_start")))
