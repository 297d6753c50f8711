/** The fault that the job must get over: a database that does not answer once. */

/**
 * The same database, except that the first call of any of `methods` hangs for `stallMs` and then fails, without
 * having reached the database. Every later call goes through.
 */
export function stallOnce<Database extends object>(
  database: Database,
  methods: readonly (keyof Database & string)[],
  stallMs: number,
): Database {
  let stalled = false
  const stall = (): Promise<never> => {
    stalled = true
    return new Promise((_resolve, reject) => {
      // Does not keep the process alive: whoever called has long given up.
      setTimeout(() => reject(new Error('the connection was lost')), stallMs).unref()
    })
  }
  return new Proxy(database, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (!methods.some((method) => method === name)) return member.bind(target)
      return (...args: unknown[]) => (stalled ? member.apply(target, args) : stall())
    },
  })
}
