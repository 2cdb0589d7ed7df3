import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { useQueryClient, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch, Link } from '@tanstack/react-router'
import { reading } from '../api/queries.ts'
import { ApiRefusal } from '@gateway/api-client/failures'
import { useMe, useScope, useProducts, useProjectName } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { LeaveGuard } from '../components/dialog.tsx'
import { EmptyState, Waiting } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { spent, allAnswers } from './core/conversation.ts'
import { keptIn } from './data/kept.ts'
import { useConversation, type Known, type UsedConversation } from './data/use-conversation.ts'
import { usePlaygroundKey, type UsedKey } from './data/use-playground-key.ts'
import { ChatPart } from './components/chat-part.tsx'
import './playground.css'
import { Moment, Money } from '../components/values.tsx'
import { Field } from '../components/fields.tsx'
import { microOf } from '../components/usd.ts'

/** Tries models and flows, with the charge of each response. */
export function PlaygroundScreen() {
  const { project } = useScope()
  const { id: user } = useMe()
  return <Playground key={project} user={user} project={project} />
}

// Loaded on demand, because it includes parts of the flow editor.
const FlowPart = lazy(async () => ({ default: (await import('./flow/flow-part.tsx')).FlowPart }))

function Playground({ user, project }: { user: string; project: string }) {
  const navigate = useNavigate({ from: '/projects/$tenant/$project/playground' })
  const { flow } = useSearch({ from: '/projects/$tenant/$project/playground' })
  const kept = useMemo(() => keptIn({ user, project }), [user, project])
  const used = useConversation(kept)
  const key = usePlaygroundKey(kept)
  const { products, isPending, error } = useProducts()
  const models = products.filter(({ kind }) => kind === 'chat')
  const client = useQueryClient()
  const { micro } = spent(used.conversation)
  useEffect(() => {
    for (const path of ['/v1/key', '/api/v2/tenants/{tenant}/projects/{project}/wallet'])
      void client.invalidateQueries({ queryKey: [path] })
  }, [client, micro])
  const clear = (
    <button
      type="button"
      className="button"
      disabled={used.isStreaming || used.conversation.entries.length === 0}
      onClick={used.clear}
    >
      New conversation
    </button>
  )
  return (
    <Screen title="Playground" of={useProjectName()} actions={flow === undefined ? clear : null}>
      <LeaveGuard title="Response in progress" isUnsaved={used.isStreaming}>
        The rest of the response is lost if you leave. The call continues to its end and is charged in full.
      </LeaveGuard>
      <PlaygroundTabs />
      <OpenCharges of={used} />
      {flow === undefined ? (
        <>
          <RefusalBox error={error} />
          {isPending && !error && <Waiting what="models" />}
          {!isPending && !error && models.length === 0 && (
            <EmptyState title="No models to try yet">
              Ask an Admin of the organization to assign a model to this project.
            </EmptyState>
          )}
          {models.length > 0 && (
            <div className="playground stack">
              {key.key ? <KeyLine of={key} /> : <KeyCard of={key} />}
              <ChatPart used={used} models={models} secret={key.key?.secret ?? null} onOtherKey={key.replace} />
            </div>
          )}
        </>
      ) : (
        <div className="playground stack">
          <Suspense fallback={<Waiting what="flows" />}>
            <FlowPart
              kept={kept}
              flow={flow}
              onFlow={(next) => void navigate({ search: (before) => ({ ...before, flow: next }) })}
            />
          </Suspense>
        </div>
      )}
    </Screen>
  )
}

/** Switches between models and flows. */
function PlaygroundTabs() {
  const at = {
    to: '/projects/$tenant/$project/playground',
    params: useScope(),
    className: 'button small',
    activeOptions: { exact: true, includeSearch: true },
  } as const
  return (
    <nav className="buttons playground-tabs" aria-label="Playground mode">
      <Link {...at} search={({ flow: _, ...others }) => others}>
        Models
      </Link>
      <Link {...at} search={(before) => ({ flow: '', ...before })}>
        Flows
      </Link>
    </nav>
  )
}

/** The key of this tab, with its spending and expiry. */
function KeyLine({ of: { key, status, end, forget } }: { of: UsedKey }) {
  if (!key) return null
  const { data } = status
  return (
    <section className="stack" aria-label="Playground key">
      <div className="head small">
        <p className="soft">
          {key.made ? (
            <>
              Key for this tab, <code>{key.made.prefix}…</code>
            </>
          ) : (
            'Pasted key'
          )}
          {data && data.limit && data.spentMicro !== null && (
            <>
              : <Money micro={data.spentMicro} /> of <Money micro={data.limit.micro} /> spent
            </>
          )}
          {data?.expiresAt && (
            <>
              , expires <Moment iso={data.expiresAt} />
            </>
          )}
        </p>
        <div className="buttons">
          {key.made && (
            <button type="button" className="button small danger" disabled={end.isPending} onClick={() => end.mutate()}>
              Revoke key
            </button>
          )}
          {(!key.made || status.error !== null || end.error !== null) && (
            <button type="button" className="button small" onClick={forget}>
              Use another key
            </button>
          )}
        </div>
      </div>
      <RefusalBox error={status.error ?? end.error} />
    </section>
  )
}

/** Polls pending charges. Renders nothing. */
function OpenCharges({ of: { conversation, settle } }: { of: UsedConversation }) {
  const open = allAnswers(conversation).filter(
    ({ chargedMicro, state }) => chargedMicro === null && state !== 'streaming' && state !== 'lost',
  )
  const invocations = open.flatMap(({ invocation }) => (invocation === null ? [] : [invocation]))
  return invocations.map((invocation) => (
    <OpenCharge key={invocation} invocation={invocation} onKnown={(known) => settle(invocation, known)} />
  ))
}

const EVERY_MS = 1_000
const AFTER_FAILURE_MS = 10_000

/** Polls the charge of a response that ended early, until it is final. Reads in the session: the key may be gone. */
function OpenCharge({ invocation, onKnown }: { invocation: string; onKnown: (known: Known) => void }) {
  const params = { ...useScope(), invocation }
  const { data, error } = useQuery({
    ...reading('/api/v2/tenants/{tenant}/projects/{project}/invocations/{invocation}', { params }),
    refetchInterval: ({ state: { error: failed, data: read } }) =>
      failed
        ? !(failed instanceof ApiRefusal && !failed.again.worth) && AFTER_FAILURE_MS
        : read?.state !== 'Settled' && read?.state !== 'Released' && EVERY_MS,
  })
  const isElsewhere = error instanceof ApiRefusal && error.code === 'not_found'
  // A pasted key may be of another project.
  useEffect(() => {
    if (isElsewhere) onKnown({ state: 'lost' })
  }, [isElsewhere, onKnown])
  useEffect(() => {
    if (!data || data.state === 'Open') return
    const { promptTokens: prompt, completionTokens: completion } = data
    const usage = prompt === null || completion === null ? null : { prompt, completion }
    onKnown({ chargedMicro: data.chargedMicro, usage })
  }, [data, onKnown])
  return null
}

/** Creates a short-lived key with a small limit for this tab, or takes a pasted one. */
function KeyCard({ of: { make, paste, resetIdempotencyKey } }: { of: UsedKey }) {
  const [limit, setLimit] = useState('1')
  const [pasted, setPasted] = useState('')
  const micro = microOf(limit)
  return (
    <section className="card stack" aria-label="Playground key">
      <div>
        <h2>API key for this tab</h2>
        <p className="soft">
          Playground calls are charged to the project. Create a temporary key with a spending limit: it expires after a
          day or when you sign out, and its secret stays in this tab.
        </p>
      </div>
      <form
        className="playground-line"
        onSubmit={(event) => {
          event.preventDefault()
          if (micro) make.mutate(micro)
        }}
      >
        <Field
          label="Spending limit (USD)"
          fault={micro ? null : 'Enter an amount above 0, such as 1 or 0.25, with up to six decimal places.'}
        >
          {(ids) => (
            <input
              {...ids}
              inputMode="decimal"
              autoComplete="off"
              value={limit}
              onChange={({ target }) => {
                setLimit(target.value)
                resetIdempotencyKey()
              }}
            />
          )}
        </Field>
        <button type="submit" className="button main" disabled={make.isPending || !micro}>
          {make.isPending ? 'Creating…' : 'Create key'}
        </button>
      </form>
      <RefusalBox error={make.error} />
      <details>
        <summary>Use an existing key</summary>
        <form
          className="playground-line"
          onSubmit={(event) => {
            event.preventDefault()
            if (pasted.trim() !== '') paste(pasted.trim())
          }}
        >
          <Field label="API key" hint="Stays in this tab until you remove it or sign out.">
            {(ids) => (
              <input
                {...ids}
                type="password"
                autoComplete="off"
                value={pasted}
                onChange={({ target }) => setPasted(target.value)}
              />
            )}
          </Field>
          <button type="submit" className="button" disabled={pasted.trim() === ''}>
            Use key
          </button>
        </form>
      </details>
    </section>
  )
}
