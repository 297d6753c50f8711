/**
 * Imports a peer from where it is installed: `bench/thirdparty/node_modules`. The one line that must stand in
 * this folder, because packages are looked up from the importing file.
 */
export function importPeer(specifier: string): Promise<unknown> {
  return import(specifier)
}
