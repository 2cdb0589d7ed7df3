import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readingAll, reading } from '../api/queries.ts'
import { useBaseUrl, useMe, useProjectRole, useScope, useProducts, useMyRoles } from '../api/session.ts'
import { announce } from '../frame/announcer.ts'
import { CodeChoice } from '../components/secret-dialog.tsx'
import { firstCalls } from '../keys/commands.ts'
import { useLatestCalls } from '../calls/latest-calls.tsx'
import { loadedLater } from '../components/loaded-later.tsx'

const AssignDialog = loadedLater(async () => (await import('../organization/assign-dialog.tsx')).AssignDialog)

/** Checklist up to the first call, flow and colleague, until all is done or it is hidden. */
export function FirstSteps() {
  const { project } = useScope()
  const done = useProgress()
  const [isHidden, hide] = useHidden(project)
  useAnnounceFirstCall(done && done.call)
  if (done === null) return null
  const { products, ...steps } = done
  const count = Object.values(steps).filter((isDone) => isDone).length
  const all = Object.keys(steps).length
  if (count === all || (steps.call && isHidden)) return null
  return (
    <section className="card stack" aria-label="First steps">
      <div className="head">
        <h2>
          First steps <span className="soft small">{`${count} of ${all} done`}</span>
        </h2>
        {steps.call && (
          <button type="button" className="button quiet small" onClick={hide}>
            Hide
          </button>
        )}
      </div>
      <ol className={steps.call ? 'steps short' : 'steps'}>
        <Step title="Assign a model" isDone={steps.product}>
          {steps.product ? (
            <p className="soft">{`Available: ${products.map(({ name }) => name).join(', ')}.`}</p>
          ) : (
            <AssignStep />
          )}
        </Step>
        <Step title="Fund the wallet" isDone={steps.funds}>
          {!steps.funds && <FundStep />}
        </Step>
        <Step title="Create an API key" isDone={steps.key}>
          {!steps.key && <KeyStep />}
        </Step>
        <Step title="Make a call" isDone={steps.call}>
          {!steps.call && <CallStep model={products.find(({ kind }) => kind === 'chat')?.id} />}
        </Step>
        {steps.flow !== undefined && (
          <Step title="Run a flow" isDone={steps.flow}>
            {!steps.flow && <FlowStep />}
          </Step>
        )}
        <Step title="Invite a colleague" isDone={steps.colleague}>
          {!steps.colleague && <InviteStep />}
        </Step>
      </ol>
    </section>
  )
}

/** What is done; null until all of it is known. A step that the user may not do is missing. */
function useProgress() {
  const { tenant, project } = useScope()
  const params = { tenant, project }
  const role = useProjectRole()
  const mayRun = role === 'Project Owner' || role === 'Project Consumer'
  const { products, isPending } = useProducts()
  const keys = useQuery(
    reading('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project, state: 'Active', limit: 1 } }),
  )
  const wallet = useQuery(reading('/api/v2/tenants/{tenant}/projects/{project}/wallet', { params }))
  const members = useQuery(readingAll('/api/v2/tenants/{tenant}/members', { params: { tenant } }))
  const executions = useQuery({
    ...reading('/api/v2/tenants/{tenant}/projects/{project}/executions', { params, query: { limit: 1 } }),
    enabled: mayRun,
  })
  const calls = useLatestCalls()
  const isKnown = !isPending && keys.data && wallet.data && members.data && calls.data
  if (!isKnown || (mayRun && !executions.data)) return null
  return {
    products,
    product: products.length > 0,
    funds: wallet.data.availableMicro > 0,
    key: keys.data.data.length > 0,
    call: calls.data.data.length > 0,
    ...(executions.data && { flow: executions.data.data.length > 0 }),
    colleague: members.data.length > 1,
  }
}

/** Whether the user hid the list of a project in this browser, once a call was made. */
function useHidden(project: string): [isHidden: boolean, hide: () => void] {
  const name = `console-steps-hidden ${project}`
  const [, setChanged] = useState(0)
  const hide = () => {
    localStorage.setItem(name, 'true')
    setChanged((count) => count + 1)
  }
  return [localStorage.getItem(name) !== null, hide]
}

/** Announces the first call, which arrives without a reload. */
function useAnnounceFirstCall(hasCalls: boolean | null): void {
  const before = useRef<boolean | null>(null)
  useEffect(() => {
    if (before.current === false && hasCalls) announce('First call received.')
    before.current = hasCalls
  }, [hasCalls])
}

function Step({ title, isDone, children }: { title: string; isDone: boolean; children: ReactNode }) {
  return (
    <li className={isDone ? 'done' : ''}>
      <div className="stack tight">
        <h3>
          {title}
          {isDone && <span className="visually-hidden"> (done)</span>}
        </h3>
        {children}
      </div>
    </li>
  )
}

function AssignStep() {
  const { tenant } = useScope()
  const isAdmin = useMe().tenants.find(({ id }) => id === tenant)?.role === 'Admin'
  const [isAssigning, setAssigning] = useState(false)
  if (!isAdmin) return <p className="soft">Ask an Admin of the organization to assign a product.</p>
  return (
    <div className="buttons">
      <button type="button" className="button main" onClick={() => setAssigning(true)}>
        Assign product
      </button>
      {isAssigning && <AssignDialog onClose={() => setAssigning(false)} />}
    </div>
  )
}

function KeyStep() {
  return (
    <>
      <p className="soft">The key belongs to this project permanently. Its secret is shown once.</p>
      <div className="buttons">
        <Link
          className="button main"
          to="/projects/$tenant/$project/keys"
          params={useScope()}
          search={{ create: true }}
        >
          Create key
        </Link>
      </div>
    </>
  )
}

function FlowStep() {
  return (
    <>
      <p className="soft">A flow combines several model calls, and callers use it like one model.</p>
      <div className="buttons">
        <Link className="button" to="/projects/$tenant/$project/flows" params={useScope()} search={{ create: true }}>
          Start from a template
        </Link>
      </div>
    </>
  )
}

function InviteStep() {
  const { tenant } = useScope()
  const { isAdmin } = useMyRoles()
  return isAdmin ? (
    <div className="buttons">
      <Link className="button" to="/organizations/$tenant/members" params={{ tenant }}>
        Invite user
      </Link>
    </div>
  ) : (
    <p className="soft">An Admin of the organization can invite users.</p>
  )
}

/** Only operators of the platform add funds. */
function FundStep() {
  const scope = useScope()
  return useMe().platformOperator ? (
    <div className="buttons">
      <Link className="button main" to="/operator/money" search={scope}>
        Add funds
      </Link>
    </div>
  ) : (
    <p className="soft">The wallet is empty, so calls are refused. Ask an operator of the platform to add funds.</p>
  )
}

function CallStep({ model }: { model: string | undefined }) {
  const params = useScope()
  const baseUrl = useBaseUrl()
  if (model === undefined) return <p className="soft">A command appears here once a chat model is assigned.</p>
  return (
    <>
      <p className="soft">
        Try it here, or replace YOUR_KEY with the secret of the key. The call appears here automatically. Continue with{' '}
        <a href="/docs/first-call" target="_blank" rel="noreferrer">
          the guide
        </a>
        .
      </p>
      <div className="buttons">
        <Link className="button" to="/projects/$tenant/$project/playground" params={params} search={{ model }}>
          Open playground
        </Link>
      </div>
      <CodeChoice title="First call" label="Client" copy="Copy command" of={firstCalls(baseUrl, 'YOUR_KEY', model)} />
    </>
  )
}
