import { createHash } from 'node:crypto'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'
import type { Call, Handler } from '../request/call.ts'
import { fingerprintOf, readKey } from '../request/create-once.ts'
import { reachSandbox } from '../sandboxes/sandbox-record.ts'
import { followIn } from '../request/request-limits.ts'
import { authorizeReader, sendExecution } from './follow-execution.ts'
import type { CheckedBodyOf } from '@gateway/api/api-route'
import { recordChange } from '../audit/record-change.ts'
import { userOf } from '../sign-in/user.ts'

type Deps = Pick<
  ConsoleDeps,
  'prisma' | 'ledger' | 'requestLimits' | 'followerLooks' | 'newId' | 'stopping' | 'now' | 'publicUrl'
>

/**
 * POST …/sandboxes/{s}/execute: runs any revision without problems, without a key, on the project's wallet (rules
 * §7.2). Responds with the record once the execution has ended, or with NDJSON progress; never with an image (flows
 * §4.5). The execution continues if the client disconnects. A user who loses access gets no further lines. The ledger
 * starts it once per idempotency key of the user.
 * @throws Refusal for the same reasons as the admission of an invoke
 */
export function executeSandbox(deps: Deps): Handler<'executeSandbox'> {
  const { ledger, newId } = deps
  return async (call, res) => {
    const { user, tenant, project, sandbox } = await reachSandbox(deps.prisma, call, res)
    followIn(deps, res, tenant)
    const key = readKey(call.req)
    const { input, revision, maxMicro } = await call.body()
    const started = await ledger.startExecution({
      id: newId('exe'),
      caller: { user: user.id, project },
      sandbox: sandbox.id,
      revision,
      surface: 'invoke',
      input,
      maxMicro,
      idempotency: key === null ? null : await onceBy(user.id, key, call),
      trace: null,
    })
    if ('refused' in started) throw refusalFor(started.refused, 'console')
    if (started.replayed) res.set('Idempotent-Replayed', 'true')

    const gone = () => refuse('sandbox_not_found', { sandbox: sandbox.id })
    const authorize = authorizeReader(deps, call.req, { tenant, project }, gone)
    await sendExecution(deps, call.req, res, { project, execution: started.execution }, authorize)
  }
}

/**
 * The ledger stores idempotency keys per project and sandbox product, regardless of the sender. Keys of a user contain
 * a space, which no `Idempotency-Key` header can contain, so they never collide with those of other callers.
 */
async function onceBy(user: string, key: string, call: Call<ConsoleRoutes['executeSandbox']>) {
  const own = createHash('sha256')
    .update(JSON.stringify([user, key]))
    .digest('hex')
  return { key: `user ${own}`, fingerprint: (await fingerprintOf(call)).toString('hex') }
}

/**
 * POST …/projects/{p}/executions/{e}/rerun: reruns an ended execution from a node and reuses the results of the others
 * (flows §4.12). The ledger starts it once per idempotency key. The audit row follows; a repeated request writes it if
 * it is missing.
 * @throws Refusal `execution_not_found`, `execution_not_ended`, `rerun_differs`, and as for the admission of an invoke
 */
export function rerunExecution(deps: Deps): Handler<'rerunExecution'> {
  return async (call, res) => {
    const [tenant, project, execution] = [call.id('tenant'), call.id('project'), call.id('execution')]
    const gone = () => refuse('execution_not_found', { execution })
    const authorize = authorizeReader(deps, call.req, { tenant, project }, gone)
    const { id: user } = userOf(res)
    await authorize()
    followIn(deps, res, tenant)
    const key = readKey(call.req)
    const asked = await call.body()
    const started = await deps.ledger.rerunExecution({
      id: deps.newId('exe'),
      user,
      project,
      execution,
      ...asked,
      idempotency: key === null ? null : { key, fingerprint: rerunFingerprintOf(execution, asked) },
      trace: null,
    })
    if ('refused' in started) throw refusalFor(started.refused, 'console')
    const change = { tenant, user, action: 'sandbox.execution.rerun' as const, subject: started.sandbox }
    await deps.prisma.$transaction(async (tx) => {
      const where = { ...change, details: { path: ['execution'], equals: started.execution } }
      if (started.replayed && (await tx.auditEntry.findFirst({ where }))) return
      const details = { execution: started.execution, rerunOf: execution, from: asked.from }
      await recordChange(tx, { ...change, details })
    })
    if (started.replayed) res.set('Idempotent-Replayed', 'true')
    const begun = { project, execution: started.execution }
    await sendExecution(deps, call.req, res, begun, authorize)
  }
}

/** Fingerprint, in hex, of what must match under one idempotency key in addition to project and user. */
function rerunFingerprintOf(
  execution: string,
  { from, revision, maxMicro }: CheckedBodyOf<ConsoleRoutes['rerunExecution']>,
): string {
  return createHash('sha256').update(JSON.stringify({ execution, from, revision, maxMicro })).digest('hex')
}

/** POST …/sandboxes/{s}/estimate: max cost of an execution with this input (money §7.6). Starts nothing. */
export function estimateSandbox(
  deps: Pick<ConsoleDeps, 'prisma' | 'ledger' | 'estimator'>,
): Handler<'estimateSandbox'> {
  return async (call, res) => {
    const { user, project, sandbox } = await reachSandbox(deps.prisma, call, res)
    const caller = { user: user.id, project }
    const estimate = await deps.estimator.estimate(project, call.body, async ({ input, revision }) => {
      const facts = await deps.ledger.estimateSandbox({ caller, sandbox: sandbox.id, revision, input })
      if ('refused' in facts) throw refusalFor(facts.refused, 'console')
      return facts
    })
    res.json(estimate)
  }
}
