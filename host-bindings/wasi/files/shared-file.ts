/** One open file for several holders: it is closed when the last of them closes it. */
import type { WasiFile } from '../../../src/ports/wasi-files.ts'

export interface SharedFile extends WasiFile {
  /** The same file for one holder more. */
  retain(): SharedFile
}

export function shareFile(file: WasiFile): SharedFile {
  let holders = 0
  const hold = (): SharedFile => {
    holders += 1
    let isHeld = true
    return {
      stat: () => file.stat(),
      read: (offset, length) => file.read(offset, length),
      write: (offset, bytes) => file.write(offset, bytes),
      resize: (bytes) => file.resize(bytes),
      setTimes: (times) => file.setTimes(times),
      sync: () => file.sync(),
      retain: hold,
      close: () => {
        if (!isHeld) return
        isHeld = false
        holders -= 1
        if (holders === 0) file.close()
      },
    }
  }
  return hold()
}
