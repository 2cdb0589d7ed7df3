import { KEY_SECRET_PREFIX } from '@gateway/contracts/key-secret'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { personOf } from '../sign-in/person.ts'
import { issueSecret } from '../sign-in/secret.ts'
import { databaseNow } from './database-now.ts'
import { requireEligible } from './eligible-resources.ts'
import { keyRecord } from './key-record.ts'
import { authorizeInTenant, authorizeKeyIssuer } from '../permissions/authorize.ts'

const DAY_MS = 86_400_000
const ROTATE = 'Its secret was shown once, when the key was made. Rotate the key for another one.'

/** POST …/keys: a key bound for life to one project (rules §6.1, §6.2, §6.5). Its secret is shown this once. */
export function createKey(deps: Pick<ConsoleDeps, 'prisma' | 'newId' | 'random'>): Handler<'createKey'> {
  const { newId } = deps
  return async (call, res) => {
    const person = personOf(res)
    const tenant = call.id('tenant')
    const { project: named } = await call.sentBody()
    if (named === undefined || named === null) {
      await authorizeInTenant(deps, person, tenant, 'projects.read')
      throw refuse('project_required', {}, { param: 'project' })
    }
    const body = await call.body()
    const { id: project } = await authorizeKeyIssuer(deps, person, tenant, body.project)
    const resources = [...new Set(body.resources)]
    const { secret, hash, prefix } = issueSecret(KEY_SECRET_PREFIX, deps)
    const id = newId('key')
    await createOnce(deps, call, res, async (tx) => {
      await requireEligible(tx, project, resources)
      const now = await databaseNow(tx)
      const row = await tx.key.create({
        data: {
          id,
          hash,
          prefix,
          name: body.name,
          tenant,
          project,
          lineage: id,
          policy: body.policy,
          limitMicro: body.limit?.micro ?? null,
          limitReset: body.limit?.reset ?? null,
          createdBy: person.id,
          createdAt: now,
          expiresAt: new Date(now.getTime() + body.expiresInDays * DAY_MS),
          expiryDays: body.expiresInDays,
        },
      })
      await tx.keyResource.createMany({ data: resources.map((resource) => ({ key: id, resource })) })
      const details = { project, prefix, policy: body.policy, limit: body.limit, expiresInDays: body.expiresInDays }
      await recordChange(tx, { tenant, person: person.id, action: 'key.create', subject: id, details })
      const key = await keyRecord(tx, row, now, person.id)
      return { body: { key, secret }, repeated: { key, secret: null, resolution: ROTATE } }
    })
  }
}
