/**
 * The world `tool` in AssemblyScript. Its strings are UTF-16, and so are those of the component: `stringEncoding` in
 * sample.json says so, and nothing is encoded anew inside of the guest.
 *
 * The runtime is the `minimal` one: memory is collected when we say so, which is when a result was read and nothing is
 * on the stack. So a run allocates the same on every host.
 */

// @ts-ignore: a decorator of a declaration, which AssemblyScript has and TypeScript does not
@external("$root", "host-call")
declare function hostCall(name: usize, nameLength: usize, args: usize, argsLength: usize, result: usize): void;

/** What the host hands in comes into memory of ours that no collector knows. */
export function cabi_realloc(old: usize, oldSize: usize, align: usize, newSize: usize): usize {
  if (newSize == 0) return align;
  return old == 0 ? heap.alloc(newSize) : heap.realloc(old, newSize);
}

/** A string out of what the host handed in, which is freed. `length` counts code units. */
function takeText(data: usize, length: usize): string {
  if (length == 0) return "";
  const text = String.UTF16.decodeUnsafe(data, length << 1);
  heap.free(data);
  return text;
}

/** `result<string, string>` as the host reads and writes it: tag, address, code units. */
const answer = memory.data(12, 4);
const outcome = memory.data(12, 4);
const counts = memory.data(8, 4);

/** Returned, and not to be collected before the host has read it. */
let returned: string = "";

function finish(isErr: bool, text: string): usize {
  returned = text;
  store<u8>(outcome, isErr);
  store<usize>(outcome + 4, changetype<usize>(text));
  store<usize>(outcome + 8, text.length);
  return outcome;
}

export function run(data: usize, length: usize): usize {
  const lines = takeText(data, length).split("\n");
  const name = "echo";
  const answers = new Array<string>();
  for (let i = 0; i < lines.length; i++) {
    const args = '{"line":"' + lines[i] + '"}';
    hostCall(changetype<usize>(name), name.length, changetype<usize>(args), args.length, answer);
    const text = takeText(load<usize>(answer + 4), load<usize>(answer + 8));
    if (load<u8>(answer) != 0) return finish(true, text);
    answers.push(text);
  }
  const all = answers.join("\n");
  store<u32>(counts, load<u32>(counts) + 1);
  store<u32>(counts + 4, load<u32>(counts + 4) + String.UTF8.byteLength(all));
  return finish(false, all);
}

/** Called when the host has read the result of `run`. */
export function cabi_post_run(result: usize): void {
  returned = "";
  __collect();
}

export function totals(): usize {
  return counts;
}
