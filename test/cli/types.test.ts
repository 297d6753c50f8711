/** `caisson types`: declarations that are true of the guest that they describe. */
import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { openRuntime } from '../../src/entry/node.ts'

const declarations = readFileSync(new URL('../../guest/globals.d.ts', import.meta.url), 'utf8')
const parsed = ts.createSourceFile('globals.d.ts', declarations, ts.ScriptTarget.ES2023)

/** Values that are declared: types alone exist for the compiler only. */
function declaredGlobals(): readonly string[] {
  return parsed.statements.flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
      return [statement.name?.text ?? '']
    if (!ts.isVariableStatement(statement)) return []
    return statement.declarationList.declarations.map(({ name }) => name.getText(parsed))
  })
}

/** `[name, members]` of classes and of interfaces that a global has. */
function declaredMembers(): readonly (readonly [string, readonly string[]])[] {
  return parsed.statements.flatMap((statement) => {
    if (!ts.isClassDeclaration(statement) && !ts.isInterfaceDeclaration(statement)) return []
    const members = statement.members.flatMap((member) => {
      const isStatic = ts.canHaveModifiers(member)
        ? (ts.getModifiers(member) ?? []).some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword)
        : false
      if (isStatic || member.name === undefined || !ts.isIdentifier(member.name)) return []
      return [member.name.text]
    })
    return [[statement.name?.text ?? '', members] as const]
  })
}

describe('the declarations of a guest', () => {
  it('name what is there: every global, and every member of its classes', async () => {
    const runtime = await openRuntime()
    const globals = declaredGlobals()
    const outcome = await runtime.run(
      `const [globals, classes] = input
       const missing = globals.filter((name) => !(name in globalThis))
       const instances = { Console: console, Performance: performance, Crypto: crypto, SubtleCrypto: crypto.subtle, Navigator: navigator, Event: new Event('x') }
       for (const [name, members] of classes) {
         const object = instances[name] ?? globalThis[name]?.prototype
         if (object === undefined) continue
         for (const member of members) if (!(member in object)) missing.push(name + '.' + member)
       }
       return missing`,
      { input: [globals, declaredMembers()] },
    )
    await runtime.close()
    expect(globals.length).toBeGreaterThan(20)
    expect(outcome).toMatchObject({ status: 'completed', value: [] })
  })
})
