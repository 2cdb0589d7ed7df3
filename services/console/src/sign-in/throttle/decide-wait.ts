// How long a sign-in by password has to wait (decision 5).
//   T1  Failures are counted for an email from one address block. After the fifth, each doubles the wait, up to 15
//       minutes: 4 guesses an hour.
//   T2  All new devices together fill a bucket of the email, which drains by 8 an hour. While it holds fewer than 20, T1
//       alone applies.
//   T3  Above that, the email is under attack. An address block that is new to the email has two tries at once, so its
//       owner gets in; a block that has used them waits until the bucket is below 20 again.
//   T4  At 500, new blocks wait as well. So however many addresses an attacker has, after 500 guesses 8 an hour remain.
//   T5  A device on which the user has signed in counts for itself: no failure elsewhere delays it.
//   T6  An address block that fails for many emails waits up to a minute between tries.
//   T7  Passwords of known devices are hashed first, then those of address blocks by their failures (password.ts). So the
//       first try of a block waits for other first tries, not for all that an attacker's addresses may still try.

/** What is known of a key: a number of failures, or the level of a bucket, at a time. */
export interface Failures {
  level: number
  atMs: number
}

export const NO_FAILURES: Failures = { level: 0, atMs: 0 }

interface Pace {
  /** Failures without a wait. */
  free: number
  maxMs: number
}

const HOUR_MS = 3_600_000
/** Failures without another one for this long are forgotten. */
export const FORGOTTEN_MS = 24 * HOUR_MS
const PAIR: Pace = { free: 5, maxMs: 15 * 60_000 } // T1
const DEVICE: Pace = { free: 10, maxMs: 15 * 60_000 } // T5
const ADDRESS: Pace = { free: 50, maxMs: 60_000 } // T6
const DRAIN_MS = HOUR_MS / 8 // T2
const CALM = 20
const TRIES_UNDER_ATTACK = 2 // T3
const FLOOD = 500 // T4
const MOST_FAILURES = 5 // T7

/** Failures before a sign-in from a device that is new to the user. */
export interface NewDevice {
  /** Of the email from this address block. */
  pair: Failures
  /** Of the email, from all new devices. */
  email: Failures
  /** Of the address block, for all emails. */
  address: Failures
}

/** Milliseconds until a new device may try; 0: now. */
export function waitOfNewDevice({ pair, email, address }: NewDevice, nowMs: number): number {
  const tries = counted(pair, nowMs).level
  const level = drained(email, nowMs).level
  const room = tries < TRIES_UNDER_ATTACK ? FLOOD : CALM
  const ofEmail = level + 1 > room ? Math.ceil((level + 1 - room) * DRAIN_MS) : 0
  return Math.max(waitAt(PAIR, pair, nowMs), waitAt(ADDRESS, address, nowMs), ofEmail)
}

/** Milliseconds until a known device, or a signed-in user who changes the password, may try (T5). */
export function waitOfKnownDevice(device: Failures, nowMs: number): number {
  return waitAt(DEVICE, device, nowMs)
}

/** Ranks of attempts: a lower one is hashed first (T7). */
export const KNOWN_DEVICE = 0
export const NEW_ADDRESS = 1

export function rankOf(address: Failures, nowMs: number): number {
  return NEW_ADDRESS + Math.min(counted(address, nowMs).level, MOST_FAILURES)
}

/** Failures after one more. */
export function withFailure(failures: Failures, nowMs: number): Failures {
  return { level: counted(failures, nowMs).level + 1, atMs: nowMs }
}

/** Level of an email's bucket after one more failure. */
export function withDrop(bucket: Failures, nowMs: number): Failures {
  return { level: drained(bucket, nowMs).level + 1, atMs: nowMs }
}

function counted(failures: Failures, nowMs: number): Failures {
  return nowMs - failures.atMs >= FORGOTTEN_MS ? NO_FAILURES : failures
}

function drained({ level, atMs }: Failures, nowMs: number): Failures {
  return { level: Math.max(0, level - (nowMs - atMs) / DRAIN_MS), atMs: nowMs }
}

function waitAt({ free, maxMs }: Pace, failures: Failures, nowMs: number): number {
  const { level, atMs } = counted(failures, nowMs)
  if (level < free) return 0
  return Math.max(0, atMs + Math.min(1_000 * 2 ** (level - free), maxMs) - nowMs)
}
