/**
 * `import engine from 'caisson/engine/v8.wasm'` where WebAssembly is imported compiled: workerd, and bundlers for it.
 * As a URL it is `caisson/engine/v8.wasm?url` in Vite; whose bundler gives a URL for the plain name says so in a
 * declaration of that module.
 */
declare const engine: WebAssembly.Module
export default engine
