import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readingAll, reading } from '../api/queries.ts'
import { useBaseUrl, useMe, useScope, useProducts } from '../api/session.ts'
import { announce } from '../frame/announcer.ts'
import { Copyable } from '../components/copying.tsx'
import { firstCall } from '../keys/commands.ts'
import { useLatestCalls } from '../calls/latest-calls.tsx'
import { loadedLater } from '../components/loaded-later.tsx'

const AssignDialog = loadedLater(async () => (await import('../organization/assign-dialog.tsx')).AssignDialog)

/** Checklist up to the first call, shown until there is one. */
export function FirstSteps() {
  const { tenant, project } = useScope()
  const { products, isPending } = useProducts()
  const keys = useQuery(readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }))
  const wallet = useQuery(
    reading('/api/v2/tenants/{tenant}/projects/{project}/wallet', { params: { tenant, project } }),
  )
  const calls = useLatestCalls()
  const hasCalls = calls.data ? calls.data.data.length > 0 : null
  useAnnounceFirstCall(hasCalls)
  if (isPending || !keys.data || !wallet.data || hasCalls !== false) return null
  const hasFunds = wallet.data.availableMicro > 0
  const hasProduct = products.length > 0
  const hasKey = keys.data.some(({ state }) => state === 'Active')
  return (
    <section className="card stack" aria-label="First steps">
      <h2>First steps</h2>
      <ol className="steps">
        <Step title="Assign a model" isDone={hasProduct}>
          {hasProduct ? (
            <p className="soft">{`Available: ${products.map(({ name }) => name).join(', ')}.`}</p>
          ) : (
            <AssignStep />
          )}
        </Step>
        <Step title="Fund the wallet" isDone={hasFunds}>
          {!hasFunds && <FundStep />}
        </Step>
        <Step title="Create an API key" isDone={hasKey}>
          <p className="soft">The key belongs to this project permanently. Its secret is shown once.</p>
          {!hasKey && <CreateKeyLink />}
        </Step>
        <Step title="Make a call" isDone={false}>
          <CallStep model={products.find(({ kind }) => kind === 'chat')?.id} />
        </Step>
      </ol>
    </section>
  )
}

/** Announces the first call, because the checklist then disappears. */
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

function CreateKeyLink() {
  return (
    <div className="buttons">
      <Link className="button main" to="/projects/$tenant/$project/keys" params={useScope()} search={{ create: true }}>
        Create key
      </Link>
    </div>
  )
}

/** Only operators of the platform add funds. */
function FundStep() {
  return useMe().platformOperator ? (
    <div className="buttons">
      <Link className="button main" to="/operator/money">
        Add funds
      </Link>
    </div>
  ) : (
    <p className="soft">The wallet is empty, so calls are refused. Ask an operator of the platform to add funds.</p>
  )
}

function CallStep({ model }: { model: string | undefined }) {
  const baseUrl = useBaseUrl()
  if (model === undefined) return <p className="soft">A command appears here once a chat model is assigned.</p>
  return (
    <>
      <p className="soft">
        Replace YOUR_KEY with the key's secret. The call appears here automatically. Continue with{' '}
        <a href="/docs/first-call" target="_blank" rel="noreferrer">
          the guide
        </a>
        .
      </p>
      <Copyable text={firstCall(baseUrl, 'YOUR_KEY', model)} label="Copy command" />
    </>
  )
}
