import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { KeyRecord } from '@gateway/api/console/keys'
import { reading } from '../api/queries.ts'
import { useKeyName, useMemberNames, useProducts, useProjectName, useScope } from '../api/session.ts'
import { LatestCalls } from '../calls/latest-calls.tsx'
import { Loaded } from '../components/list-states.tsx'
import { several } from '../components/usd.ts'
import { Badge, Facts, Moment } from '../components/values.tsx'
import { useFlowNames } from '../executions/execution-columns.tsx'
import { Screen, UnknownScreen } from '../frame/screen.tsx'
import { NewestRefusals } from '../refusals/refusals-by-code.tsx'
import { SpendingDays } from '../usage/spending-days.tsx'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { keyActions, KeyDialog, type KeyAction } from './key-dialogs.tsx'
import { isInGrace, stateLabels } from './key-labels.ts'
import { useMissingKeyRight } from './key-right.tsx'
import { ratesText } from './rate-fields.tsx'
import { WindowBar } from './window-bar.tsx'

/** A key with its spending, calls and errors, and what it may do. */
export function KeyScreen() {
  const { tenant, project, key } = useParams({ from: '/projects/$tenant/$project/keys/$key' })
  const [action, setAction] = useState<KeyAction | null>(null)
  const read = useQuery(reading('/api/v2/tenants/{tenant}/keys/{key}', { params: { tenant, key } }))
  const projectName = useProjectName()
  const record = read.data
  if (record && record.project !== project) return <UnknownScreen />
  const actions =
    record &&
    keyActions(record).map((act) => (
      <button
        key={act}
        type="button"
        className={`button ${act === 'Revoke' ? 'danger' : ''}`}
        onClick={() => setAction(act)}
      >
        {act}
      </button>
    ))
  return (
    <Screen title={record?.name ?? 'API key'} of={projectName} actions={actions}>
      <p>
        <Link to="/projects/$tenant/$project/keys" params={{ tenant, project }}>
          All API keys
        </Link>
      </p>
      <Loaded of={read} what="the key">
        {(found) => (
          <>
            {found.pausedAt !== null && found.state === 'Paused' && (
              <p className="notice">
                Paused <Moment iso={found.pausedAt} />. Calls are refused with <code>key_paused</code> until you resume
                the key.
              </p>
            )}
            {isInGrace(found) && (
              <p className="notice">
                Old secret works until <Moment iso={found.graceUntil!} isExact />. Revoke the key to end it now.
              </p>
            )}
            <div className="two">
              <KeyFacts of={found} />
              <SpendingDays of={{ by: 'key', id: found.id, name: found.name }} />
            </div>
            <LatestCalls of={{ key: found.id }} />
            <KeyErrors of={found} />
          </>
        )}
      </Loaded>
      {action && record && <KeyDialog action={action} of={record} onClose={() => setAction(null)} />}
    </Screen>
  )
}

/** What the key may do, which is fixed at its creation, and its lineage. */
function KeyFacts({ of: key }: { of: KeyRecord }) {
  const [isCopying, setCopying] = useState(false)
  const nameOf = useMemberNames()
  const mayCreate = useMissingKeyRight() === null
  return (
    <section className="card stack" aria-label="Key">
      <Facts
        of={[
          ['State', <Badge key="state" {...stateLabels[key.state]} />],
          ['Secret', <code key="secret">{key.prefix}…</code>],
          ['Last used', key.lastUsedAt === null ? 'Never' : <Moment key="used" iso={key.lastUsedAt} />],
          ['Limit', <WindowBar key="limit" {...key} />],
          ['Rate limits', ratesText(key.rates)],
          ['Access', <KeyAccess key="access" of={key} />],
          ['Expires', key.expiresAt === null ? 'Never' : <Moment key="expires" iso={key.expiresAt} to="day" />],
          [
            'Created',
            <span key="created">
              <Moment iso={key.createdAt} /> <span className="soft">by {nameOf(key.createdBy)}</span>
            </span>,
          ],
          ['Replaces', key.rotatedFrom === null ? null : <LineageLink key="from" id={key.rotatedFrom} />],
          [
            'Replaced by',
            key.rotatedTo === null ? null : (
              <span key="to">
                <LineageLink id={key.rotatedTo} />
                {key.rotatedAt !== null && key.rotatedBy !== null && (
                  <span className="soft">
                    {' '}
                    <Moment iso={key.rotatedAt} /> by {key.rotatedBy === key.id ? 'itself' : nameOf(key.rotatedBy)}
                  </span>
                )}
              </span>
            ),
          ],
        ]}
      />
      <p className="soft">
        Access, limits and expiry are fixed at creation. To change them, create a copy and revoke this key.
      </p>
      <div className="buttons">
        <button type="button" className="button" disabled={!mayCreate} onClick={() => setCopying(true)}>
          Create a narrower copy
        </button>
      </div>
      {isCopying && <CreateKeyDialog from={key} onClose={() => setCopying(false)} />}
    </section>
  )
}

/** Names of the products and flows that a key may call. */
function KeyAccess({ of: { policy, resources } }: { of: KeyRecord }) {
  const { products } = useProducts()
  const { flowName } = useFlowNames()
  if (policy === 'all-eligible') return 'All products, including those assigned later'
  const nameOf = (id: string) => products.find((product) => product.id === id)?.name ?? flowName(id)
  return (
    <ul className="rules">
      {resources.map((id) => (
        <li key={id}>{nameOf(id)}</li>
      ))}
    </ul>
  )
}

function LineageLink({ id }: { id: string }) {
  return (
    <Link to="/projects/$tenant/$project/keys/$key" params={{ ...useScope(), key: id }}>
      {useKeyName(id)}
    </Link>
  )
}

const REFUSALS = '/api/v2/tenants/{tenant}/projects/{project}/refusals'
const SHOWN = 5
const EVERY_MS = 5_000

/** Errors of the key in the last 24 hours, and its latest ones, polled. */
function KeyErrors({ of: { id } }: { of: KeyRecord }) {
  const params = useScope()
  const refetchInterval = EVERY_MS
  const counts = useQuery({ ...reading(REFUSALS, { params, query: { by: 'key' } }), refetchInterval })
  const latest = useQuery({ ...reading(`${REFUSALS}/recent`, { params }), refetchInterval })
  if (!counts.data) return null
  const errors = counts.data.data.filter(({ group }) => group === id).reduce((sum, { count }) => sum + count, 0)
  const rows = (latest.data?.data ?? []).filter(({ key }) => key === id).slice(0, SHOWN)
  return (
    <section className="stack" aria-label="Errors">
      <div className="head">
        <h2>{several(errors, 'error')} in the last 24 hours</h2>
        <Link to="/projects/$tenant/$project/refusals" params={params} search={{ key: id }}>
          All errors
        </Link>
      </div>
      {rows.length > 0 && <NewestRefusals rows={rows} ofKey />}
    </section>
  )
}
