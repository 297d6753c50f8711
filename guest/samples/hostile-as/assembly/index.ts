/** The world `hostile` in AssemblyScript, with strings in UTF-16. The cases are those of guest/wit/hostile.wit. */

// @ts-ignore: a decorator of a declaration, which AssemblyScript has and TypeScript does not
@external("$root", "host-call")
declare function hostCall(name: usize, nameLength: usize, args: usize, argsLength: usize, result: usize): void;

enum Attack {
  None,
  Loop,
  Recursion,
  Flood,
  Trap,
  Pointer,
  Length,
  Wrap,
  Encoding,
  Discriminant,
  Unaligned,
  Edge,
  Large,
  ReallocTrap,
  ReallocBeyond,
  ReallocLoop,
  HostReallocTrap,
  HostPointer,
  HostLoop,
  PostLoop,
}

const PAGE: usize = 65536;
const MEBIBYTE: usize = 1 << 20;

let sink: u32 = 0;
let reallocAttack: Attack = Attack.None;
let postLoop = false;

/** Two results, so that one which is not aligned still lies inside of them. */
const results = memory.data(24, 4);

function loop(): void {
  while (true) sink++;
}

function endOfMemory(): usize {
  return (<usize>memory.size()) * PAGE;
}

export function cabi_realloc(old: usize, oldSize: usize, align: usize, newSize: usize): usize {
  if (reallocAttack == Attack.ReallocTrap) unreachable();
  if (reallocAttack == Attack.ReallocBeyond) return endOfMemory() + PAGE;
  if (reallocAttack == Attack.ReallocLoop) loop();
  if (newSize == 0) return align;
  return old == 0 ? heap.alloc(newSize) : heap.realloc(old, newSize);
}

/** Not a tail call: what the inner call left is used after it. */
function recurse(depth: u32): u32 {
  return depth == 0 ? 0 : recurse(depth - 1) + (depth & sink);
}

/** @returns how many MiB there were */
function flood(): u32 {
  let count: u32 = 0;
  let old = memory.grow(<i32>(MEBIBYTE / PAGE));
  while (old >= 0) {
    for (let at: usize = 0; at < MEBIBYTE; at += 4096) store<u8>((<usize>old) * PAGE + at, 1);
    count++;
    old = memory.grow(<i32>(MEBIBYTE / PAGE));
  }
  return count;
}

/** @param length code units */
function answer(data: usize, length: usize): usize {
  store<u8>(results, 0);
  store<usize>(results + 4, data);
  store<usize>(results + 8, length);
  return results;
}

/** Nothing is collected in this guest. */
function answerText(text: string): usize {
  return answer(changetype<usize>(text), text.length);
}

export function run(which: Attack, data: usize, length: usize): usize {
  switch (which) {
    case Attack.Loop:
      loop();
      break;
    case Attack.Recursion:
      return answerText(recurse(1 << 30).toString());
    case Attack.Flood:
      return answerText(flood().toString());
    case Attack.Trap:
      unreachable();
    case Attack.Pointer:
      return answer(endOfMemory() + PAGE, 4);
    case Attack.Length:
      return answer(endOfMemory() - 8, 5);
    case Attack.Wrap:
      return answer(16, 0x7ffffff8);
    case Attack.Encoding:
      return answerText("ok " + String.fromCharCode(0xd800) + "!");
    case Attack.Discriminant:
      answer(data, length);
      store<u8>(results, 2);
      return results;
    case Attack.Unaligned:
      return answer(data, length) + 1;
    case Attack.Edge: {
      const end = (<usize>memory.grow(1)) * PAGE + PAGE;
      const text = "edge";
      memory.copy(end - 8, changetype<usize>(text), 8);
      return answer(end - 8, 4);
    }
    case Attack.Large:
      return answerText("x".repeat(<i32>MEBIBYTE));
    case Attack.ReallocTrap:
    case Attack.ReallocBeyond:
    case Attack.ReallocLoop:
      reallocAttack = which;
      break;
    case Attack.HostReallocTrap: {
      reallocAttack = Attack.ReallocTrap;
      const name = "echo";
      hostCall(changetype<usize>(name), name.length, data, length, results);
      return results;
    }
    case Attack.HostPointer:
      hostCall(endOfMemory() + PAGE, 4, data, length, results);
      return results;
    case Attack.HostLoop: {
      const name = "echo";
      while (true) {
        hostCall(changetype<usize>(name), name.length, data, length, results);
        if (load<usize>(results + 8) > 0) heap.free(load<usize>(results + 4));
      }
    }
    case Attack.PostLoop:
      postLoop = true;
      break;
  }
  return answer(data, length);
}

/** Frees nothing: some of what was returned came from no allocator. */
export function cabi_post_run(result: usize): void {
  if (postLoop) loop();
}
