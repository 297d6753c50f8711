// Richards: the kernel of a small operating system (idle task, two devices, a worker, two handlers) that
// passes packets between its tasks. Exercises method calls, object fields and linked lists.
// After Martin Richards' benchmark for BCPL; the two counts are the ones his version is checked by.

const ID_IDLE = 0
const ID_WORKER = 1
const ID_HANDLER_A = 2
const ID_HANDLER_B = 3
const ID_DEVICE_A = 4
const ID_DEVICE_B = 5

const KIND_DEVICE = 0
const KIND_WORK = 1

const RUNNING = 0
const RUNNABLE = 1
const SUSPENDED = 2
const HELD = 4
const SUSPENDED_RUNNABLE = SUSPENDED | RUNNABLE

const DATA_SIZE = 4
const IDLE_TURNS = 1000

class Packet {
  constructor(link, id, kind) {
    this.link = link
    this.id = id
    this.kind = kind
    this.datum = 0
    this.data = new Array(DATA_SIZE).fill(0)
  }

  appendTo(queue) {
    this.link = null
    if (queue === null) return this
    let last = queue
    while (last.link !== null) last = last.link
    last.link = this
    return queue
  }
}

class TaskControlBlock {
  constructor(link, id, priority, queue, task) {
    this.link = link
    this.id = id
    this.priority = priority
    this.queue = queue
    this.task = task
    this.state = queue === null ? SUSPENDED : SUSPENDED_RUNNABLE
  }

  isHeldOrSuspended() {
    return (this.state & HELD) !== 0 || this.state === SUSPENDED
  }

  run() {
    let packet = null
    if (this.state === SUSPENDED_RUNNABLE) {
      packet = this.queue
      this.queue = packet.link
      this.state = this.queue === null ? RUNNING : RUNNABLE
    }
    return this.task.run(packet)
  }

  // Gives `packet` to this task; returns the task that should run next.
  take(current, packet) {
    if (this.queue !== null) {
      this.queue = packet.appendTo(this.queue)
      return current
    }
    this.queue = packet
    this.state |= RUNNABLE
    packet.link = null
    return this.priority > current.priority ? this : current
  }
}

class Scheduler {
  constructor() {
    this.queueCount = 0
    this.holdCount = 0
    this.blocks = new Array(6).fill(null)
    this.list = null
    this.current = null
    this.currentId = -1
  }

  add(id, priority, queue, task) {
    const block = new TaskControlBlock(this.list, id, priority, queue, task)
    this.list = block
    this.blocks[id] = block
    return block
  }

  schedule() {
    this.current = this.list
    while (this.current !== null) {
      if (this.current.isHeldOrSuspended()) {
        this.current = this.current.link
      } else {
        this.currentId = this.current.id
        this.current = this.current.run()
      }
    }
  }

  release(id) {
    const block = this.blocks[id]
    if (block === null) return block
    block.state &= ~HELD
    return block.priority > this.current.priority ? block : this.current
  }

  holdCurrent() {
    this.holdCount++
    this.current.state |= HELD
    return this.current.link
  }

  suspendCurrent() {
    this.current.state |= SUSPENDED
    return this.current
  }

  queue(packet) {
    const block = this.blocks[packet.id]
    if (block === null) return block
    this.queueCount++
    packet.link = null
    packet.id = this.currentId
    return block.take(this.current, packet)
  }
}

class IdleTask {
  constructor(scheduler, seed, count) {
    this.scheduler = scheduler
    this.seed = seed
    this.count = count
  }

  run() {
    this.count--
    if (this.count === 0) return this.scheduler.holdCurrent()
    if ((this.seed & 1) === 0) {
      this.seed >>= 1
      return this.scheduler.release(ID_DEVICE_A)
    }
    this.seed = (this.seed >> 1) ^ 0xd008
    return this.scheduler.release(ID_DEVICE_B)
  }
}

class DeviceTask {
  constructor(scheduler) {
    this.scheduler = scheduler
    this.held = null
  }

  run(packet) {
    if (packet !== null) {
      this.held = packet
      return this.scheduler.holdCurrent()
    }
    if (this.held === null) return this.scheduler.suspendCurrent()
    const held = this.held
    this.held = null
    return this.scheduler.queue(held)
  }
}

class WorkerTask {
  constructor(scheduler, target, letter) {
    this.scheduler = scheduler
    this.target = target
    this.letter = letter
  }

  run(packet) {
    if (packet === null) return this.scheduler.suspendCurrent()
    this.target = this.target === ID_HANDLER_A ? ID_HANDLER_B : ID_HANDLER_A
    packet.id = this.target
    packet.datum = 0
    for (let i = 0; i < DATA_SIZE; i++) {
      this.letter = this.letter === 26 ? 1 : this.letter + 1
      packet.data[i] = this.letter
    }
    return this.scheduler.queue(packet)
  }
}

class HandlerTask {
  constructor(scheduler) {
    this.scheduler = scheduler
    this.work = null
    this.devices = null
  }

  run(packet) {
    if (packet !== null) {
      if (packet.kind === KIND_WORK) this.work = packet.appendTo(this.work)
      else this.devices = packet.appendTo(this.devices)
    }
    const work = this.work
    if (work !== null) {
      if (work.datum >= DATA_SIZE) {
        this.work = work.link
        return this.scheduler.queue(work)
      }
      const device = this.devices
      if (device !== null) {
        this.devices = device.link
        device.datum = work.data[work.datum]
        work.datum++
        return this.scheduler.queue(device)
      }
    }
    return this.scheduler.suspendCurrent()
  }
}

function threePackets(id, kind) {
  let queue = null
  for (let i = 0; i < 3; i++) queue = new Packet(queue, id, kind)
  return queue
}

function simulate() {
  const scheduler = new Scheduler()
  scheduler.add(ID_IDLE, 0, null, new IdleTask(scheduler, 1, IDLE_TURNS)).state = RUNNING
  const work = new Packet(new Packet(null, ID_WORKER, KIND_WORK), ID_WORKER, KIND_WORK)
  scheduler.add(ID_WORKER, 1000, work, new WorkerTask(scheduler, ID_HANDLER_A, 0))
  scheduler.add(ID_HANDLER_A, 2000, threePackets(ID_DEVICE_A, KIND_DEVICE), new HandlerTask(scheduler))
  scheduler.add(ID_HANDLER_B, 3000, threePackets(ID_DEVICE_B, KIND_DEVICE), new HandlerTask(scheduler))
  scheduler.add(ID_DEVICE_A, 4000, null, new DeviceTask(scheduler))
  scheduler.add(ID_DEVICE_B, 5000, null, new DeviceTask(scheduler))
  scheduler.schedule()
  return scheduler
}

globalThis.run = () => {
  let last
  for (let i = 0; i < 16; i++) last = simulate()
  return `${last.queueCount} queued, ${last.holdCount} held`
}
