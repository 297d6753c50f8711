/** What the runtime needs of components: one module, loaded with the first of them. */
export { hostInterfaces } from './component-imports.ts'
export { openComponentInstance } from './component-instance.ts'
export { PreparedCache } from './core/prepared-cache.ts'
export { loadPrebuilt } from './prebuilt.ts'
export { prepareComponent } from './prepare-component.ts'
