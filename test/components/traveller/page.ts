/** A stop in a page. Whoever drives the browser calls `goOnHere`. */
import { openRuntime } from '../../../src/entry/browser.ts'
import { type Arrival, type Leg, travel } from './legs.ts'

declare global {
  interface Window {
    goOnHere(leg: Leg): Promise<Arrival>
  }
}

window.goOnHere = (leg) => travel(openRuntime, leg, () => {})
