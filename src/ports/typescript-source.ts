/**
 * Brings the script of the transpiler (`engines/typescript.js`), when the first TypeScript is to be read: a page that
 * has none never downloads it. What it brings is checked against the digest that this version was built with.
 */
export type TypeScriptSource = () => Promise<string>
