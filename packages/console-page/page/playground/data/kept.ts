import { ask } from '../../api/ask.ts'

// What the playground keeps in this tab alone: by person and project, until the tab is closed or somebody signs out.

const BEGIN = 'playground:'
type What = 'key' | 'conversation'

export interface KeptKey {
  secret: string
  /** Of a key that the playground made; null: it was pasted. */
  made: { tenant: string; id: string; prefix: string } | null
}

export function keptIn({ person, project }: { person: string; project: string }) {
  const nameOf = (what: What) => `${BEGIN}${what}:${person}:${project}`
  return {
    /** null: nothing. */
    read: (what: What): unknown => {
      const text = sessionStorage.getItem(nameOf(what))
      return text === null ? null : (JSON.parse(text) as unknown)
    },
    /** Answers whether there was room for it. */
    write(what: What, value: unknown): boolean {
      try {
        sessionStorage.setItem(nameOf(what), JSON.stringify(value))
        return true
      } catch {
        return false
      }
    },
    drop: (what: What) => sessionStorage.removeItem(nameOf(what)),
  }
}

/** Before somebody signs out: the keys that were made here are revoked, and nothing stays. What cannot be revoked expires. */
export async function endPlaygrounds(): Promise<void> {
  const names = Object.keys(sessionStorage).filter((name) => name.startsWith(BEGIN))
  const keys = names.filter((name) => name.startsWith(`${BEGIN}key:`))
  await Promise.allSettled(keys.map((name) => revoke(JSON.parse(sessionStorage.getItem(name)!) as KeptKey)))
  for (const name of names) sessionStorage.removeItem(name)
}

/** @throws ApiRefusal */
export async function revoke({ made }: KeptKey): Promise<void> {
  if (!made) return
  await ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/revoke', { params: { tenant: made.tenant, key: made.id } })
}
