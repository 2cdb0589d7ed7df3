import { randomBytes, randomFillSync } from 'node:crypto'
import { renewPublicKeys } from './content/capture-settings.ts'
import { openContentKeys } from '@gateway/capture/content-keys'
import { openAssetStore } from '@gateway/assets/asset-store'
import { assetStoreOf } from '@gateway/assets/asset-store-config'
import { flowLimits } from '@gateway/api/limits'
import { openIdGenerator } from '@gateway/api/ids'
import { openDatabase } from '@gateway/database/client'
import { openEstimator } from '@gateway/ledger-client/estimator'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import type { ServiceTools } from '@gateway/service-kit/process/open-service'
import { isUpload, isTrustedBy } from '@gateway/service-kit/http/connections'
import type { ConsoleDeps } from './deps.ts'
import { consoleApp } from './app.ts'
import { removeDeleted } from './assets/assets.ts'
import { removeUnrecorded } from './assets/remove-unrecorded.ts'
import { reportFailedSignIns } from './audit/failed-sign-ins.ts'
import { checkAudit } from './audit/check-audit.ts'
import { auditAnchor, forgetAudit, sealAudit } from './audit/seal-audit.ts'
import { forgetCreations } from './request/create-once.ts'
import { type ConsoleConfig, REVOCATION_CONNECTIONS } from './config.ts'
import { openFollowerLooks } from './executions/follow-execution.ts'
import { openLeakReports } from './keys/leak-reports.ts'
import { openMailer } from './mail/mailer.ts'
import { openMails } from './mail/mail-queue.ts'
import { openMetrics } from './metrics.ts'
import { mailNotices, handOverNotices } from './notices/mail-notices.ts'
import { repeat } from '@gateway/service-kit/async/waiting'
import { makeAppointments } from './projects/appointments.ts'
import { openConnectionTurns, openRequestLimits } from './request/request-limits.ts'
import { openSecretBox } from './sign-in/secret-box.ts'
import { forgetSessions } from './sign-in/sessions.ts'
import { openPasswords } from './sign-in/password.ts'
import { openSignInProvider, type SignInProvider } from './sign-in/provider/sign-in-provider.ts'
import { forgetAttempts, openThrottle } from './sign-in/throttle/throttle.ts'
import { forgetInvitations } from './users/invitations.ts'

/** Longer than the statement and lock timeouts of this login, so Postgres reports its timeout first. */
const QUERY_LIMIT_MS = 7_000

/** Starts the console: database, ledger client and, last, the server. */
export async function startConsole(config: ConsoleConfig, tools: ServiceTools) {
  const { log, meter, onStop, readiness, stopping } = tools
  const connect = async (role: string, poolSize: number) => {
    const { prisma, close } = await openDatabase({
      url: config.DATABASE_URL,
      poolSize,
      takeTurn: openConnectionTurns(poolSize),
      queryLimitMs: QUERY_LIMIT_MS,
      role,
      preparedStatements: config.PREPARED_STATEMENTS,
      onConnectionLost: (error) => log.warn({ err: error, role }, 'database connection lost'),
    })
    onStop(`database of ${role}`, close)
    return prisma
  }
  const prisma = await connect('console', config.DATABASE_CONNECTIONS - REVOCATION_CONNECTIONS)
  const revocationPrisma = await connect('console-revocations', REVOCATION_CONNECTIONS)

  const ledger = openLedgerClient({
    url: config.LEDGER_URL,
    service: 'console',
    privateKey: config.SERVICE_PRIVATE_KEY,
  })
  onStop('ledger client', () => ledger.close())

  const metrics = openMetrics(meter)
  const assetStore = await openAssetStore(assetStoreOf(config), metrics.assets)
  onStop('asset store', () => assetStore.close())
  const removal = {
    name: 'removal of assets',
    everyMs: 60_000,
    work: () => removeDeleted({ ledger, assetStore, log, stopping }),
  }
  const unrecorded = {
    name: 'removal of unrecorded bytes',
    everyMs: 86_400_000,
    work: async () => (await removeUnrecorded({ prisma, assetStore, log, stopping }), 0), // not again at once: U4 of remove-unrecorded.ts
  }
  const forgetting = { name: 'idempotency keys', everyMs: 600_000, work: () => forgetCreations({ prisma }) }
  const attempts = { name: 'sign-in attempts', everyMs: 300_000, work: () => forgetAttempts({ prisma }) }
  const seals = { name: 'seals of the audit', everyMs: 5_000, work: () => sealAudit({ prisma }) }
  const retention = {
    name: 'retention of the audit',
    everyMs: 3_600_000,
    work: () => forgetAudit({ prisma }, config.AUDIT_RETENTION_DAYS),
  }
  const failures = { name: 'failed sign-ins', everyMs: 10_000, work: () => reportFailedSignIns({ prisma }) }
  const appointments = {
    name: 'appointments of owners',
    everyMs: 60_000,
    work: () => makeAppointments({ prisma, now: () => new Date() }),
  }
  const anchoring = {
    name: 'anchor of the audit',
    everyMs: 3_600_000,
    work: async () => (log.info({ anchor: await auditAnchor({ prisma }) }, 'the audit was anchored'), 0),
  }
  const auditCheck = {
    name: 'check of the audit',
    everyMs: 3_600_000,
    async work() {
      const { entries, findings } = await checkAudit({ prisma })
      metrics.auditChecked(findings.length)
      if (findings.length > 0)
        log.error({ entries, findings: findings.slice(0, 10) }, 'the audit does not fit its seals')
      return 0
    },
  }
  const handingOver = { name: 'outgoing notices', everyMs: 1_000, work: () => handOverNotices({ prisma, ledger }) }
  const now = () => new Date()
  const sessionLimits = { idleMs: config.SESSION_IDLE_SECONDS * 1_000, maxMs: config.SESSION_MAX_SECONDS * 1_000 }
  const sessions = {
    name: 'ended sessions',
    everyMs: 300_000,
    work: () => forgetSessions({ prisma, now, sessionLimits }),
  }
  const links = { name: 'expired links', everyMs: 600_000, work: () => forgetInvitations({ prisma, now }) }
  const { CAPTURE_KEY: captureKey, CAPTURE_KEY_PREVIOUS: previousKey } = config
  const contentKeys = captureKey === undefined ? null : openContentKeys({ key: captureKey, previousKey })
  const publicKeys = {
    name: 'keys of captured content',
    everyMs: 600_000,
    work: async () => (contentKeys === null ? 0 : renewPublicKeys({ prisma }, contentKeys)),
  }
  const jobs = [
    publicKeys,
    removal,
    unrecorded,
    forgetting,
    attempts,
    handingOver,
    seals,
    retention,
    anchoring,
    auditCheck,
    failures,
    appointments,
    sessions,
    links,
  ]
  for (const job of jobs) onStop(job.name, repeat({ log }, job))

  const estimator = openEstimator({
    onTrouble: (error) => log.warn({ err: error }, 'estimate failed'),
  })
  onStop('estimator', () => estimator.close())

  // Not on the connections of other requests: a crowd of them doesn't make this replica unready.
  readiness.check('postgres', async () => ((await revocationPrisma.$queryRaw`SELECT 1`) ? null : 'no answer'))
  const random = (bytes: number) => randomBytes(bytes)
  const newId = openIdGenerator(Date.now, randomFillSync)
  const requestLimits = openRequestLimits(config, { now, overloaded: metrics.overloaded })
  metrics.observePermits(requestLimits.counts)
  const sending = { prisma, newId, random, now, log, publicUrl: config.PUBLIC_URL }
  const mailer = openMailer(config)
  const { mails, close: closeMails } = openMails(sending, mailer)
  onStop('mails', closeMails)
  if (mailer !== null) {
    const work = () => mailNotices({ ...sending, ledger, mailer })
    onStop('mailed notices', repeat({ log }, { name: 'mailed notices', everyMs: 1_000, work }))
  }
  const deps: ConsoleDeps = {
    prisma,
    revocationPrisma,
    requestLimits,
    followerLooks: openFollowerLooks({ prisma, ledger, now, sessionLimits }),
    ledger,
    assetStore,
    estimator,
    quotas: config.QUOTAS,
    appointmentDelayMs: config.APPOINTMENT_DELAY_HOURS * 3_600_000,
    mails,
    throttle: openThrottle({ prisma, now, maxRequests: config.REQUESTS_PER_ADDRESS }),
    leakReports: openLeakReports(),
    passwords: openPasswords({ random }),
    sessionLimits,
    secretBox: openSecretBox({
      key: config.SECOND_FACTOR_KEY,
      previousKey: config.SECOND_FACTOR_KEY_PREVIOUS,
      random,
    }),
    contentKeys,
    newId,
    random,
    now,
    log,
    metrics,
    readiness,
    stopping,
    publicUrl: config.PUBLIC_URL,
    traceUrl: config.TRACE_URL,
    provider: signInProvider(config, tools),
  }
  const app = consoleApp(deps, config.TRUSTED_PROXIES)
  return tools.listen(app, {
    newRequestId: () => newId('req'),
    bodyLimitOf: (req) => (isUpload(req) ? flowLimits.assetBytes : flowLimits.bodyBytes),
    isTrustedProxy: isTrustedBy(app),
  })
}

function signInProvider(config: ConsoleConfig, { log, stopping }: ServiceTools): SignInProvider | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, PUBLIC_URL } = config
  if (issuer === undefined || clientId === undefined || PUBLIC_URL === undefined) return undefined
  return openSignInProvider({ issuer, clientId, clientSecret, publicUrl: PUBLIC_URL, log, stopping })
}
