// DeltaBlue: an incremental one-way constraint solver (Freeman-Benson and Maloney, 1990). Exercises
// polymorphic method calls, arrays that grow and shrink, and pointer chasing.

// Strengths: smaller is stronger. (Those in between are not used here.)
const REQUIRED = 0
const PREFERRED = 2
const STRONG_DEFAULT = 3
const NORMAL = 4
const WEAKEST = 6

const FORWARD = 1
const BACKWARD = 2
const NONE = 0

class Variable {
  constructor(name, value) {
    this.name = name
    this.value = value
    this.constraints = []
    this.determinedBy = null
    this.mark = 0
    this.walkStrength = WEAKEST
    this.stay = true
  }

  remove(constraint) {
    const at = this.constraints.indexOf(constraint)
    if (at >= 0) this.constraints.splice(at, 1)
    if (this.determinedBy === constraint) this.determinedBy = null
  }
}

class Constraint {
  constructor(strength) {
    this.strength = strength
  }

  isInput() {
    return false
  }

  add(planner) {
    this.attach()
    planner.incrementalAdd(this)
  }

  destroy(planner) {
    if (this.isSatisfied()) planner.incrementalRemove(this)
    else this.detach()
  }

  // Tries to satisfy this constraint; returns the one it overrode, or null.
  satisfy(planner, mark) {
    this.chooseMethod(mark)
    if (!this.isSatisfied()) {
      if (this.strength === REQUIRED) throw new Error('A required constraint cannot be satisfied')
      return null
    }
    this.markInputs(mark)
    const out = this.output()
    const overridden = out.determinedBy
    if (overridden !== null) overridden.markUnsatisfied()
    out.determinedBy = this
    if (!planner.addPropagate(this, mark)) throw new Error('Cycle encountered')
    out.mark = mark
    return overridden
  }
}

class UnaryConstraint extends Constraint {
  constructor(variable, strength) {
    super(strength)
    this.variable = variable
    this.satisfied = false
  }

  attach() {
    this.variable.constraints.push(this)
    this.satisfied = false
  }

  detach() {
    this.variable.remove(this)
    this.satisfied = false
  }

  chooseMethod(mark) {
    this.satisfied = this.variable.mark !== mark && this.strength < this.variable.walkStrength
  }

  isSatisfied() {
    return this.satisfied
  }

  markInputs() {}

  inputsKnown() {
    return true
  }

  output() {
    return this.variable
  }

  markUnsatisfied() {
    this.satisfied = false
  }

  recalculate() {
    this.variable.walkStrength = this.strength
    this.variable.stay = !this.isInput()
    if (this.variable.stay) this.execute()
  }

  execute() {}
}

class StayConstraint extends UnaryConstraint {}

class EditConstraint extends UnaryConstraint {
  isInput() {
    return true
  }
}

class BinaryConstraint extends Constraint {
  constructor(left, right, strength) {
    super(strength)
    this.left = left
    this.right = right
    this.direction = NONE
  }

  attach() {
    this.left.constraints.push(this)
    this.right.constraints.push(this)
    this.direction = NONE
  }

  detach() {
    this.left.remove(this)
    this.right.remove(this)
    this.direction = NONE
  }

  chooseMethod(mark) {
    const { left, right, strength } = this
    if (left.mark === mark) {
      this.direction = right.mark !== mark && strength < right.walkStrength ? FORWARD : NONE
    } else if (right.mark === mark) {
      this.direction = strength < left.walkStrength ? BACKWARD : NONE
    } else if (left.walkStrength > right.walkStrength) {
      this.direction = strength < left.walkStrength ? BACKWARD : NONE
    } else {
      this.direction = strength < right.walkStrength ? FORWARD : NONE
    }
  }

  isSatisfied() {
    return this.direction !== NONE
  }

  input() {
    return this.direction === FORWARD ? this.left : this.right
  }

  output() {
    return this.direction === FORWARD ? this.right : this.left
  }

  markInputs(mark) {
    this.input().mark = mark
  }

  inputsKnown(mark) {
    const input = this.input()
    return input.mark === mark || input.stay || input.determinedBy === null
  }

  markUnsatisfied() {
    this.direction = NONE
  }

  recalculate() {
    const input = this.input()
    const out = this.output()
    out.walkStrength = Math.max(this.strength, input.walkStrength)
    out.stay = input.stay
    if (out.stay) this.execute()
  }
}

class EqualityConstraint extends BinaryConstraint {
  execute() {
    this.output().value = this.input().value
  }
}

// right = left * scale + offset
class ScaleConstraint extends BinaryConstraint {
  constructor(left, scale, offset, right, strength) {
    super(left, right, strength)
    this.scale = scale
    this.offset = offset
  }

  attach() {
    super.attach()
    this.scale.constraints.push(this)
    this.offset.constraints.push(this)
  }

  detach() {
    super.detach()
    this.scale.remove(this)
    this.offset.remove(this)
  }

  markInputs(mark) {
    super.markInputs(mark)
    this.scale.mark = mark
    this.offset.mark = mark
  }

  execute() {
    if (this.direction === FORWARD) this.right.value = this.left.value * this.scale.value + this.offset.value
    else this.left.value = (this.right.value - this.offset.value) / this.scale.value
  }

  recalculate() {
    const input = this.input()
    const out = this.output()
    out.walkStrength = Math.max(this.strength, input.walkStrength)
    out.stay = input.stay && this.scale.stay && this.offset.stay
    if (out.stay) this.execute()
  }
}

class Planner {
  constructor() {
    this.mark = 0
  }

  incrementalAdd(constraint) {
    const mark = ++this.mark
    let overridden = constraint.satisfy(this, mark)
    while (overridden !== null) overridden = overridden.satisfy(this, mark)
  }

  incrementalRemove(constraint) {
    const out = constraint.output()
    constraint.markUnsatisfied()
    constraint.detach()
    const unsatisfied = this.removePropagateFrom(out)
    for (let strength = REQUIRED; strength <= WEAKEST; strength++) {
      for (const other of unsatisfied) if (other.strength === strength) this.incrementalAdd(other)
    }
  }

  addPropagate(constraint, mark) {
    const todo = [constraint]
    while (todo.length > 0) {
      const next = todo.pop()
      if (next.output().mark === mark) {
        this.incrementalRemove(constraint)
        return false
      }
      next.recalculate()
      this.addConsumers(next.output(), todo)
    }
    return true
  }

  removePropagateFrom(out) {
    out.determinedBy = null
    out.walkStrength = WEAKEST
    out.stay = true
    const unsatisfied = []
    const todo = [out]
    while (todo.length > 0) {
      const variable = todo.pop()
      for (const constraint of variable.constraints)
        if (!constraint.isSatisfied()) unsatisfied.push(constraint)
      for (const next of variable.constraints) {
        if (next !== variable.determinedBy && next.isSatisfied()) {
          next.recalculate()
          todo.push(next.output())
        }
      }
    }
    return unsatisfied
  }

  addConsumers(variable, into) {
    for (const constraint of variable.constraints) {
      if (constraint !== variable.determinedBy && constraint.isSatisfied()) into.push(constraint)
    }
  }

  // The order in which satisfied constraints must run when the given edits change.
  plan(edits) {
    const mark = ++this.mark
    const todo = edits.filter((edit) => edit.isInput() && edit.isSatisfied())
    const plan = []
    while (todo.length > 0) {
      const constraint = todo.pop()
      if (constraint.output().mark !== mark && constraint.inputsKnown(mark)) {
        plan.push(constraint)
        constraint.output().mark = mark
        this.addConsumers(constraint.output(), todo)
      }
    }
    return plan
  }
}

function change(planner, variable, value) {
  const edit = new EditConstraint(variable, PREFERRED)
  edit.add(planner)
  const plan = planner.plan([edit])
  for (let i = 0; i < 10; i++) {
    variable.value = value
    for (const constraint of plan) constraint.execute()
  }
  edit.destroy(planner)
}

// A long chain of equalities; an edit at one end must arrive at the other.
function chain(length) {
  const planner = new Planner()
  const variables = []
  for (let i = 0; i <= length; i++) {
    variables.push(new Variable(`v${i}`, 0))
    if (i > 0) new EqualityConstraint(variables[i - 1], variables[i], REQUIRED).add(planner)
  }
  new StayConstraint(variables[length], STRONG_DEFAULT).add(planner)
  const edit = new EditConstraint(variables[0], PREFERRED)
  edit.add(planner)
  const plan = planner.plan([edit])
  for (let i = 0; i < 100; i++) {
    variables[0].value = i
    for (const constraint of plan) constraint.execute()
    if (variables[length].value !== i) throw new Error('Chain test failed')
  }
  return plan.length
}

// Two sets of variables related by a scale and an offset, changed from both sides.
function projection(count) {
  const planner = new Planner()
  const scale = new Variable('scale', 10)
  const offset = new Variable('offset', 1000)
  const targets = []
  let source
  let target
  for (let i = 0; i < count; i++) {
    source = new Variable(`s${i}`, i)
    target = new Variable(`t${i}`, i)
    targets.push(target)
    new StayConstraint(source, NORMAL).add(planner)
    new ScaleConstraint(source, scale, offset, target, REQUIRED).add(planner)
  }
  change(planner, source, 17)
  if (target.value !== 1170) throw new Error('Projection 1 failed')
  change(planner, target, 1050)
  if (source.value !== 5) throw new Error('Projection 2 failed')
  change(planner, scale, 5)
  for (let i = 0; i < count - 1; i++)
    if (targets[i].value !== i * 5 + 1000) throw new Error('Projection 3 failed')
  change(planner, offset, 2000)
  for (let i = 0; i < count - 1; i++)
    if (targets[i].value !== i * 5 + 2000) throw new Error('Projection 4 failed')
  return targets.reduce((sum, { value }) => sum + value, 0)
}

globalThis.run = () => {
  let sum = 0
  for (let i = 0; i < 12; i++) sum += chain(100 + i) + projection(100 + i)
  return sum
}
