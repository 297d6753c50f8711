/** The program of the killed runs: one payment after the other. */
export const CALLS = 12

export const PROGRAM: string = `
const seen = []
for (let i = 0; i < ${CALLS}; i++) seen.push(await world.pay(i))
return [seen, Math.random() < 1]
`
