/** A core module, made smaller by the package binaryen: byte for byte what its `wasm-opt -Oz` makes, without a process. */
export async function optimizeSize(wasm: Uint8Array): Promise<Uint8Array> {
  // Loaded where something is built, and not with everything that reads a sample: 14 MB.
  const { default: binaryen } = await import('binaryen')
  // What `wasm-opt` takes for granted of a module that does not say what it needs.
  const features = binaryen.Features.MutableGlobals | binaryen.Features.SignExt
  const stackIr = [binaryen.getGenerateStackIR(), binaryen.getOptimizeStackIR()] as const
  const levels = [binaryen.getOptimizeLevel(), binaryen.getShrinkLevel()] as const
  const module = binaryen.readBinary(wasm)
  try {
    module.setFeatures(features)
    binaryen.setOptimizeLevel(2)
    binaryen.setShrinkLevel(2)
    binaryen.setGenerateStackIR(true)
    binaryen.setOptimizeStackIR(true)
    module.optimize()
    return module.emitBinary()
  } finally {
    module.dispose()
    // One binaryen for all who use it in this thread.
    binaryen.setOptimizeLevel(levels[0])
    binaryen.setShrinkLevel(levels[1])
    binaryen.setGenerateStackIR(stackIr[0])
    binaryen.setOptimizeStackIR(stackIr[1])
  }
}
