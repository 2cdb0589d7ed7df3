import { Prisma } from '@gateway/database/client'
import { behind, equal, foundRows, inPeriod, type FoundRow, type Order } from '../request/found-rows.ts'

export interface AuditFilters {
  tenant: string
  person?: string | undefined
  action?: string | undefined
  subject?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
  /** Where the page before ended. */
  place: { at: Date; id: bigint } | null
  limit: number
}

export interface AuditRow extends FoundRow {
  id: bigint
  at: Date
  person: string | null
  action: string
  subject: string
  details: Prisma.JsonValue
}

const order: Order = { at: Prisma.sql`a.at`, id: Prisma.sql`a.id` }
const columns = Prisma.sql`a.id, a.at, a.person, a.action, a.subject, a.details`
const [person, action, subject] = [Prisma.sql`a.person`, Prisma.sql`a.action`, Prisma.sql`a.subject`]

/**
 * The entries of an organization that fit, newest first. What a person did and what was done to a thing have an index each
 * (L2 of found-rows.ts).
 */
export function findEntries({ limit, place, ...filters }: AuditFilters): Prisma.Sql {
  const byPerson: [Prisma.Sql, string | undefined] = [person, filters.person]
  const bySubject: [Prisma.Sql, string | undefined] = [subject, filters.subject]
  const indexed = filters.subject === undefined ? byPerson : bySubject
  const along = Prisma.sql`
    a.tenant = ${filters.tenant} ${equal([indexed])} ${inPeriod(order.at, filters)} ${behind(order, place)}`
  const fits = Prisma.sql`(true ${equal([byPerson, bySubject, [action, filters.action]])})`
  return foundRows({ ...order, table: Prisma.sql`control.audit`, along, fits, columns }, limit)
}
