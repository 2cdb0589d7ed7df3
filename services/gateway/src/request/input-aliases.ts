import { hash } from 'node:crypto'
import { fingerprintOf } from './read-headers.ts'

// Input names that model APIs refuse have an alias in the tool of a sandbox product (docs/mcp.md). It depends on the name
// alone.

const SAFE_NAME = /^[a-zA-Z0-9_.-]{1,64}$/
const MAX_NAME = 64
/** Of an alias, unless that is the name of another input. */
export const ALIAS_HASH_CHARACTERS = 8

/** Whether model APIs accept this input name. */
export function isSafeName(name: string): boolean {
  return SAFE_NAME.test(name)
}

/** Such as `Titel_des_Textes_3f0c9a1b`. A longer hash makes an alias distinct from another name. */
export function aliasOf(name: string, length: number = ALIAS_HASH_CHARACTERS): string {
  const words = name.match(/[a-zA-Z0-9]+/g) ?? ['input']
  const digest = hash('sha256', name)
  return `${words.join('_').slice(0, MAX_NAME - 1 - length)}_${digest.slice(0, length)}`
}

/**
 * Fingerprint of the body of an invocation or a tool call (rules §5.1). An input name that has an alias counts as its
 * alias, so a call by either has the same fingerprint, even under a revision without that input.
 */
export function invocationFingerprint(body: { input: Record<string, unknown> }): string {
  const { input } = body
  const fields = Object.entries(input).map(([name, value]) => {
    const alias = isSafeName(name) ? name : aliasOf(name)
    return [Object.hasOwn(input, alias) ? name : alias, value]
  })
  return fingerprintOf({ ...body, input: Object.fromEntries(fields) as Record<string, unknown> })
}
