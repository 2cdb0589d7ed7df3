import { ask } from '../../api/ask.ts'

// Playground state in this tab's session storage, by user and project, until the tab is closed or the user signs out.

const BEGIN = 'playground:'
/** Set from the start of signing out: what ends only now is not stored, so that what was removed stays removed. */
let isEnded = false
/** `executions`: the last one of each flow. */
type What = 'key' | 'conversation' | 'executions'

export interface KeptKey {
  secret: string
  /** Set if the playground created the key; null if it was pasted. */
  made: { tenant: string; id: string; prefix: string } | null
}

export function keptIn({ user, project }: { user: string; project: string }) {
  const nameOf = (what: What) => `${BEGIN}${what}:${user}:${project}`
  return {
    /** Stored value, or null. */
    read: (what: What): unknown => {
      const text = sessionStorage.getItem(nameOf(what))
      return text === null ? null : (JSON.parse(text) as unknown)
    },
    /** Returns false if the storage is full. */
    write(what: What, value: unknown): boolean {
      try {
        if (!isEnded) sessionStorage.setItem(nameOf(what), JSON.stringify(value))
        return true
      } catch {
        return false
      }
    },
    drop: (what: What) => sessionStorage.removeItem(nameOf(what)),
  }
}

/**
 * Clears all playground state, revokes the keys created here and signs out. A key that can't be revoked still expires.
 */
export async function endPlaygrounds<Done>(signOut: () => Promise<Done>): Promise<Done> {
  isEnded = true
  const names = Object.keys(sessionStorage).filter((name) => name.startsWith(BEGIN))
  const keys = names.filter((name) => name.startsWith(`${BEGIN}key:`))
  await Promise.allSettled(keys.map((name) => revoke(JSON.parse(sessionStorage.getItem(name)!) as KeptKey)))
  for (const name of names) sessionStorage.removeItem(name)
  try {
    return await signOut()
  } catch (error) {
    isEnded = false
    throw error
  }
}

/** @throws ApiRefusal */
export async function revoke({ made }: KeptKey): Promise<void> {
  if (!made) return
  await ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/revoke', { params: { tenant: made.tenant, key: made.id } })
}
