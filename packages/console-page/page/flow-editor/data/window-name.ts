import { newIdempotencyKey } from '../../keys/new-idempotency-key.ts'

const STORED = 'flow-window'

/** Name of this browser window, stable across reloads. */
export function windowName(): string {
  const known = sessionStorage.getItem(STORED)
  if (known !== null) return known
  const name = newIdempotencyKey()
  sessionStorage.setItem(STORED, name)
  return name
}
