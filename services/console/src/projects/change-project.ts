import { isDeepStrictEqual } from 'node:util'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { userOf } from '../sign-in/user.ts'
import { Prisma } from '@gateway/database/client'
import type { StoredCapture } from '@gateway/ledger-protocol/captured-content'
import { storedCapture } from '../content/capture-settings.ts'
import { projectRecord } from './projects.ts'

/**
 * PATCH …/projects/{p}: sets how long its assets are retained, its rate limits, whether its keys rotate themselves, and
 * how its prompts and answers are captured.
 */
export function changeProject(deps: Pick<ConsoleDeps, 'prisma' | 'contentKeys' | 'now'>): Handler<'changeProject'> {
  const { prisma } = deps
  return async (call, res) => {
    const user = userOf(res)
    const tenant = call.id('tenant')
    const { id } = await authorizeInProject(deps.prisma, user, tenant, call.id('project'), 'projects.change')
    const patch = await call.body()
    const changed = await prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM control.projects WHERE id = ${id} FOR UPDATE`
      const row = await tx.project.findUniqueOrThrow({ where: { id } })
      const { assetRetentionDays, rates, keySelfRotation, capture } = projectRecord(row)
      const before = { assetRetentionDays, rates, keySelfRotation, capture }
      const names = Object.keys(before) as (keyof typeof before)[]
      const changes = names.filter((name) => patch[name] !== undefined && !isDeepStrictEqual(patch[name], before[name]))
      if (changes.length === 0) return row
      const only = (values: typeof patch) => Object.fromEntries(changes.map((name) => [name, values[name] ?? null]))
      const details = { ...only(patch), before: only(before) }
      const capturing = patch.capture !== undefined && {
        capture: storedCapture(deps, id, patch.capture, row.capture as StoredCapture) ?? Prisma.DbNull,
      }
      await recordChange(tx, { tenant, user: user.id, action: 'project.change', subject: id, details })
      return tx.project.update({ where: { id }, data: { ...only(patch), ...capturing } })
    })
    res.json(projectRecord(changed))
  }
}
