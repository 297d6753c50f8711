// Mandelbrot: which points of a grid stay bounded under z := z*z + c. Exercises floating point in locals.

globalThis.run = () => {
  const size = 120
  const iterations = 100
  let inside = 0
  let steps = 0
  for (let row = 0; row < size; row++) {
    const ci = (2 * row) / size - 1
    for (let column = 0; column < size; column++) {
      const cr = (2 * column) / size - 1.5
      let zr = 0
      let zi = 0
      let i = 0
      while (i < iterations && zr * zr + zi * zi <= 4) {
        const next = zr * zr - zi * zi + cr
        zi = 2 * zr * zi + ci
        zr = next
        i++
      }
      steps += i
      if (i === iterations) inside++
    }
  }
  return `${inside} ${steps}`
}
