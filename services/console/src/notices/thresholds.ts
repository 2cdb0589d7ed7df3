import type { NoticeThresholds } from '@gateway/api/console/notices'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { inProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** GET …/projects/{p}/notices/thresholds (money §10.1) */
export function readThresholds(deps: Deps): Handler<'readThresholds'> {
  return async (call, res) => {
    const { project } = await inProject(deps.prisma, call, res, 'usage.read')
    res.json(await thresholdsOf(deps, project))
  }
}

/** PUT …/projects/{p}/notices/thresholds: the ledger replaces all thresholds. The audit row follows. */
export function setThresholds(deps: Deps): Handler<'setThresholds'> {
  const { prisma, ledger } = deps
  return async (call, res) => {
    const { user, tenant, project } = await inProject(deps.prisma, call, res, 'notices.manage')
    const thresholds = await call.body()
    await ledger.setThresholds({ project, ...thresholds })
    await recordChange(prisma, {
      tenant,
      user: user.id,
      action: 'notices.set_thresholds',
      subject: project,
      details: { project, ...thresholds },
    })
    res.json(await thresholdsOf(deps, project))
  }
}

async function thresholdsOf({ prisma }: Pick<Deps, 'prisma'>, project: string): Promise<NoticeThresholds> {
  const wallet = await prisma.wallet.findUnique({ where: { project } })
  const daysLeft = await prisma.daysLeftThreshold.findUnique({ where: { project } })
  return {
    belowMicro: (wallet?.noticeBelow ?? []).map(Number),
    daysLeft: daysLeft?.days ?? null,
    keyPercents: wallet?.noticePercents ?? [],
  }
}
