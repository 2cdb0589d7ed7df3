import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { answerOf, credentialHeader, type Answer } from '../caller.ts'
import type { Stack } from '../stack.ts'
import { operationNamed, type Operation, exampleRequest, type OwnNames } from '@gateway/testbed/example-request'

// A project with everything that the examples name, created by the examples themselves.

/** Overrides for a single request. */
export interface Own extends Partial<OwnNames> {
  /** Credential instead of the project's key or token; null for none. */
  secret?: string | null
  headers?: Record<string, string>
  /** Requested content type. */
  form?: string
}

export type ExampleProject = Awaited<ReturnType<typeof openExampleProject>>

export async function openExampleProject(stack: Pick<Stack, 'fixture' | 'gateways' | 'provider'>) {
  const { fixture } = stack
  const { tenant, team, owner } = await fixture.tenant()
  await fixture.run('UPDATE control.users SET platform_operator = true WHERE id = $1', [owner])
  const user = (await fixture.token(owner)).secret
  const session = (await fixture.session(owner)).secret
  const secrets = { key: '' }
  const names: Partial<OwnNames> = {
    tenant,
    team,
    email: `${owner}@example.test`,
    number: '1',
    ...thisMonth(),
  }

  async function send(name: string, { secret, headers = {}, form, ...own }: Own = {}): Promise<Answer> {
    const operation = operationNamed(name)
    const all = { ...names, ...fresh(), ...own } as OwnNames
    const { method, path, headers: shown, body } = exampleRequest(operation, all, form)
    const credential = secret === undefined ? credentialFor(operation) : secret
    const answer = await fetch(stack.gateways[0]!.url + path, {
      method,
      headers: { ...credentialHeader(credential), ...shown, ...headers },
      ...(body !== undefined && { body: body instanceof Buffer ? body : JSON.stringify(body) }),
      redirect: 'manual',
    })
    return answerOf(answer)
  }

  /** The user's token if the operation accepts one, or else the session or the key. */
  function credentialFor({ security }: Operation): string | null {
    if (security.some((one) => 'personalToken' in one)) return user
    if (security.some((one) => 'session' in one)) return session
    return security.length > 0 ? secrets.key : null
  }

  /** Runs an example whose response other examples need. */
  // oxlint-disable-next-line typescript/no-explicit-any -- an API response, as a client sees it
  async function make(name: string, own: Own = {}): Promise<any> {
    const answer = await send(name, own)
    if (answer.status >= 400) throw new Error(`${name}: ${answer.status} ${answer.text}`)
    return answer.body
  }

  const at = '/api/v2/tenants/{tenant}'
  const project = `${at}/projects/{project}`
  const sandbox = `${at}/sandboxes/{sandbox}`

  const { link } = await make(`POST ${at}/invitations`)
  names.user = (await make('POST /api/v2/invitations/accept', { signInCode: link.split('#')[1] })).id
  names.project = (await make(`POST ${at}/projects`)).id
  await make(`POST ${project}/wallet/fundings`)
  names.product = (await make('POST /api/v2/products')).id
  await make(`PUT ${project}/assignments/{product}`)
  names.embeddingProduct = await fixture.product({ kind: 'embedding', promptPico: 20_000n, completionPico: 0n })
  await fixture.assign(names.project!, names.embeddingProduct)
  const issued = await make(`POST ${at}/keys`)
  names.key = issued.key.id
  secrets.key = issued.secret
  await make(`PUT ${project}/notices/thresholds`)
  names.webhook = (await make(`POST ${project}/webhooks`)).webhook.id
  names.invocation = (await make('POST /v1/chat/completions')).id // crosses a threshold
  await make(`POST ${project}/wallet/corrections`)
  await send('POST /v1/chat/completions', { product: 'acme/none' }) // a refusal
  names.sandbox = (await make(`POST ${project}/sandboxes`)).id
  await make(`POST ${sandbox}/revisions`)
  await make(`POST ${sandbox}/revisions/{number}/activate`)
  names.execution = (await make('POST /v1/sandbox/{id}/invoke')).id
  names.asset = (await make(`POST ${project}/assets`)).id
  names.token = (await make('POST /api/v2/me/tokens')).token.id
  for (const of of [at, project]) names.accessToken = (await make(`POST ${of}/tokens`)).token.id
  // These lists are filled asynchronously.
  for (const list of ['invocations', 'notices', 'refusals/recent'])
    await expect.poll(async () => (await make(`GET ${project}/${list}`)).data).not.toEqual([])
  names.notice = (await make(`GET ${project}/notices`)).data[0].id

  return { stack, owner, user, names, send, make }
}

/** Values that no other request uses. */
function fresh(): Partial<OwnNames> {
  const text = randomBytes(6).toString('hex')
  return {
    newEmail: `${text}@example.test`,
    newProduct: `acme/${text}`,
    idempotencyKey: `example-${text}`,
    fundingId: `funding-${text}`,
    correctionId: `correction-${text}`,
    newPassword: `another ${text} sentence`,
  }
}

function thisMonth(): Pick<OwnNames, 'month' | 'from' | 'to'> {
  const now = new Date()
  const first = (months: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1))
  return { month: now.toISOString().slice(0, 7), from: first(0).toISOString(), to: first(1).toISOString() }
}
