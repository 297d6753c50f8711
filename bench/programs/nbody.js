// N-body: the orbits of the Jovian planets with a symplectic integrator. Exercises floating point and
// fields of objects. Constants and the energy after n steps are those of the Computer Language Benchmarks Game.

const SOLAR_MASS = 4 * Math.PI * Math.PI
const DAYS = 365.24

function body(x, y, z, vx, vy, vz, mass) {
  return { x, y, z, vx: vx * DAYS, vy: vy * DAYS, vz: vz * DAYS, mass: mass * SOLAR_MASS }
}

function solarSystem() {
  return [
    body(0, 0, 0, 0, 0, 0, 1),
    body(
      4.841431442464721,
      -1.1603200440274284,
      -0.10362204447112311,
      0.001660076642744037,
      0.007699011184197404,
      -0.0000690460016972063,
      0.0009547919384243266,
    ),
    body(
      8.34336671824458,
      4.124798564124305,
      -0.4035234171143214,
      -0.0027674251072641117,
      0.004998528012349172,
      0.000023041729757376393,
      0.0002858859806661308,
    ),
    body(
      12.894369562139131,
      -15.111151401698631,
      -0.22330757889265573,
      0.002964601375647616,
      0.0023784717395948095,
      -0.000029658956854023756,
      0.00004366244043351563,
    ),
    body(
      15.379697114850917,
      -25.919314609987964,
      0.17925877295037118,
      0.0026806777249038932,
      0.001628241700382423,
      -0.00009515922545197159,
      0.000051513890204661145,
    ),
  ]
}

function offsetMomentum(bodies) {
  let px = 0
  let py = 0
  let pz = 0
  for (const { vx, vy, vz, mass } of bodies) {
    px += vx * mass
    py += vy * mass
    pz += vz * mass
  }
  bodies[0].vx = -px / SOLAR_MASS
  bodies[0].vy = -py / SOLAR_MASS
  bodies[0].vz = -pz / SOLAR_MASS
}

function advance(bodies, dt) {
  const size = bodies.length
  for (let i = 0; i < size; i++) {
    const a = bodies[i]
    for (let j = i + 1; j < size; j++) {
      const b = bodies[j]
      const dx = a.x - b.x
      const dy = a.y - b.y
      const dz = a.z - b.z
      const squared = dx * dx + dy * dy + dz * dz
      const magnitude = dt / (squared * Math.sqrt(squared))
      a.vx -= dx * b.mass * magnitude
      a.vy -= dy * b.mass * magnitude
      a.vz -= dz * b.mass * magnitude
      b.vx += dx * a.mass * magnitude
      b.vy += dy * a.mass * magnitude
      b.vz += dz * a.mass * magnitude
    }
  }
  for (const each of bodies) {
    each.x += dt * each.vx
    each.y += dt * each.vy
    each.z += dt * each.vz
  }
}

function energy(bodies) {
  let total = 0
  for (let i = 0; i < bodies.length; i++) {
    const a = bodies[i]
    total += 0.5 * a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz)
    for (let j = i + 1; j < bodies.length; j++) {
      const b = bodies[j]
      total -= (a.mass * b.mass) / Math.sqrt((a.x - b.x) ** 2 + (a.y - b.y) ** 2 + (a.z - b.z) ** 2)
    }
  }
  return total
}

globalThis.run = () => {
  const bodies = solarSystem()
  offsetMomentum(bodies)
  const before = energy(bodies)
  for (let i = 0; i < 15000; i++) advance(bodies, 0.01)
  return `${before.toFixed(9)} ${energy(bodies).toFixed(9)}`
}
