import { refuse } from '@gateway/api/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { inProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import type { StoredCapture } from '@gateway/ledger-protocol/captured-content'

const DAY_MS = 86_400_000

/** GET …/projects/{p}/invocations/{i}/content: each read is in the audit. */
export function readContent(deps: Pick<ConsoleDeps, 'prisma' | 'contentKeys' | 'now'>): Handler<'readContent'> {
  const { prisma, contentKeys, now } = deps
  return async (call, res) => {
    const { user, tenant, project } = await inProject(prisma, call, res, 'content.read')
    const invocation = call.id('invocation')
    const [row, { capture }] = await Promise.all([
      prisma.capturedContent.findUnique({ where: { invocation, project } }),
      prisma.project.findUniqueOrThrow({ where: { id: project }, select: { capture: true } }),
    ])
    const deletedAt = row && endOf(row.at, capture as StoredCapture)
    if (row === null || deletedAt === null || deletedAt <= now() || contentKeys === null) throw refuse('not_found', {})
    const content = await contentKeys.open({ project, invocation }, row.sealed)
    await recordChange(prisma, {
      tenant,
      user: user.id,
      action: 'content.read',
      subject: invocation,
      details: { project },
    })
    res.json({ invocation, capturedAt: row.at.toISOString(), deletedAt: deletedAt.toISOString(), ...content })
  }
}

/** When the retention of content ends; null: it is over, because capture was turned off meanwhile. */
function endOf(at: Date, capture: StoredCapture): Date | null {
  if (capture === null || at < new Date(capture.since)) return null
  return new Date(at.getTime() + capture.retentionDays * DAY_MS)
}
