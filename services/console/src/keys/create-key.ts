import type { RequestHandler } from 'express'
import { newKeyBody } from '@gateway/contracts/console/keys'
import { KEY_SECRET_PREFIX } from '@gateway/contracts/key-secret'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { check, pathIdOf } from '../receive/check.ts'
import { readBody } from '../receive/read-body.ts'
import type { Authorize } from '../permissions/authorize.ts'
import { personOf } from '../sign-in/person.ts'
import { issueSecret } from '../sign-in/secret.ts'
import { databaseNow } from './database-now.ts'
import { requireEligible } from './eligible-resources.ts'
import { keyRecords } from './key-record.ts'

const DAY_MS = 86_400_000

/** POST …/keys: a key bound for life to one project (spec 2.1, 5.2, 5.3). Its secret is shown this once. */
export function createKey(
  deps: Pick<ConsoleDeps, 'prisma' | 'mint' | 'random'> & { authorize: Authorize },
): RequestHandler {
  const { prisma, mint, authorize } = deps
  return async (req, res) => {
    const person = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    const body = await readBody(req)
    if (body['project'] === undefined || body['project'] === null) {
      await authorize.inTenant(person, tenant, 'projects.read')
      throw refuse('project_required', {}, { param: 'project' })
    }
    const asked = check(newKeyBody, body)
    const { id: project } = await authorize.toIssueKey(person, tenant, asked.project)
    const resources = [...new Set(asked.resources)]
    const { secret, hash, prefix } = issueSecret(KEY_SECRET_PREFIX, deps)
    const id = mint('key')
    const key = await prisma.$transaction(async (tx) => {
      await requireEligible(tx, project, resources)
      const now = await databaseNow(tx)
      const row = await tx.key.create({
        data: {
          id,
          hash,
          prefix,
          name: asked.name,
          tenant,
          project,
          lineage: id,
          policy: asked.policy,
          limitMicro: asked.limit?.micro ?? null,
          limitReset: asked.limit?.reset ?? null,
          createdBy: person.id,
          createdAt: now,
          expiresAt: new Date(now.getTime() + asked.expiresInDays * DAY_MS),
          expiryDays: asked.expiresInDays,
        },
      })
      await tx.keyResource.createMany({ data: resources.map((resource) => ({ key: id, resource })) })
      const details = { project, prefix, policy: asked.policy, limit: asked.limit, expiresInDays: asked.expiresInDays }
      await recordChange(tx, { tenant, person: person.id, action: 'key.create', subject: id, details })
      const [record] = await keyRecords(tx, [row], now)
      return record
    })
    res.status(201).json({ key, secret })
  }
}
