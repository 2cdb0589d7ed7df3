import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { useBaseUrl, useMe } from '../api/session.ts'
import { usePlace, useProducts } from '../api/use-project.ts'
import { announce } from '../frame/announcer.ts'
import { Copyable } from '../parts/copyable.tsx'
import { firstCall } from '../pure/commands.ts'
import { AssignDialog } from '../organization/assign-dialog.tsx'
import { useLatestCalls } from './use-latest-calls.ts'

/** What leads to a first call, until there is one. Each step is ticked by itself. */
export function FirstSteps() {
  const { tenant, project } = usePlace()
  const { products, isPending } = useProducts()
  const keys = useQuery(readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project } }))
  const calls = useLatestCalls()
  const hasCalls = calls.data ? calls.data.data.length > 0 : null
  useFirstCallSaid(hasCalls)
  if (isPending || !keys.data || hasCalls !== false) return null
  const hasProduct = products.length > 0
  const hasKey = keys.data.some(({ state }) => state === 'Active')
  return (
    <section className="card stack" aria-label="First steps">
      <h2>First steps</h2>
      <ol className="steps">
        <Step title="Have a model assigned" isDone={hasProduct}>
          {hasProduct ? (
            <p className="soft">{`The project can use ${products.map(({ name }) => name).join(', ')}.`}</p>
          ) : (
            <AssignStep />
          )}
        </Step>
        <Step title="Create a key" isDone={hasKey}>
          <p className="soft">It is bound to this project for life, and its secret is shown once.</p>
          {!hasKey && <CreateKeyLink />}
        </Step>
        <Step title="Make a call" isDone={false}>
          <CallStep model={products.find(({ kind }) => kind === 'chat')?.id} />
        </Step>
      </ol>
    </section>
  )
}

/** The steps go by themselves; so that is said. */
function useFirstCallSaid(hasCalls: boolean | null): void {
  const before = useRef<boolean | null>(null)
  useEffect(() => {
    if (before.current === false && hasCalls) announce('The first call has arrived.')
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
  const { tenant } = usePlace()
  const isAdmin = useMe().tenants.find(({ id }) => id === tenant)?.role === 'Admin'
  const [isAssigning, setAssigning] = useState(false)
  if (!isAdmin) return <p className="soft">Ask an administrator of the organization to assign a product.</p>
  return (
    <div className="buttons">
      <button type="button" className="button main" onClick={() => setAssigning(true)}>
        Assign a product
      </button>
      {isAssigning && <AssignDialog onClose={() => setAssigning(false)} />}
    </div>
  )
}

function CreateKeyLink() {
  return (
    <div className="buttons">
      <Link className="button main" to="/projects/$tenant/$project/keys" params={usePlace()} search={{ create: true }}>
        Create a key
      </Link>
    </div>
  )
}

function CallStep({ model }: { model: string | undefined }) {
  const command = firstCall(useBaseUrl(), 'YOUR_KEY', model)
  return (
    <>
      <p className="soft">
        Put the secret of the key in place of YOUR_KEY. The call appears here by itself.{' '}
        <a href="/docs/first-call" target="_blank" rel="noreferrer">
          The guide
        </a>{' '}
        goes on from there.
      </p>
      <Copyable text={command} label="Copy the command" />
    </>
  )
}
