import { Link, useSearch, useNavigate } from '@tanstack/react-router'
import { EmptyState, Waiting } from '../components/list-states.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import './operator.css'
import { useQuery } from '@tanstack/react-query'
import { readingAll, reading } from '../api/queries.ts'
import { useMe, type ProjectScope } from '../api/session.ts'
import { Field } from '../components/fields.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { useState } from 'react'
import { Facts, Moment, Money } from '../components/values.tsx'
import { JournalPart } from './journal-part.tsx'
import { WalletChangeDialog } from './wallet-change-dialog.tsx'
import { emptyWalletDraft, WALLET, FUNDINGS } from './wallet-draft.ts'
import type { FundingRecord } from '@gateway/api/console/statement'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Select } from '../components/select.tsx'

/** Wallet of a project: add funds, adjust the balance, see its history. */
export function MoneyScreen() {
  const { tenant = '', project = '' } = useSearch({ from: '/operator/money' })
  return (
    <OperatorScreen title="Wallet">
      <p>
        <Link to="/operator/wallets">All wallets</Link>
      </p>
      <WalletChoice tenant={tenant} project={project} />
      {tenant === '' || project === '' ? (
        <EmptyState title="No project selected">
          Select an organization and a project to add funds or adjust its balance.
        </EmptyState>
      ) : (
        <ProjectWallet key={`${tenant} ${project}`} scope={{ tenant, project }} />
      )}
    </OperatorScreen>
  )
}

/**
 * Selects a wallet. Operators can list every organization, but only the projects of organizations they belong to; other
 * projects are selected by ID.
 */
function WalletChoice({ tenant, project }: { tenant: string; project: string }) {
  const navigate = useNavigate({ from: '/operator/money' })
  const { data: tenants, error } = useQuery(readingAll('/api/v2/tenants', { params: {} }))
  const isMine = useMe().tenants.some(({ id }) => id === tenant)
  const projects = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant } }),
    enabled: isMine,
  })
  const choose = (id: string) => void navigate({ search: { tenant, ...(id !== '' && { project: id }) } })
  return (
    <section className="card stack" aria-label="Select wallet">
      <RefusalBox error={error ?? projects.error} />
      <div className="pair">
        <Field label="Organization">
          {(ids) => (
            <Select
              {...ids}
              value={tenant || null}
              options={(tenants ?? []).map(({ id, name }) => [id, `${name} (${id})`])}
              onChange={(chosen) => void navigate({ search: { tenant: chosen } })}
            />
          )}
        </Field>
        {tenant !== '' && isMine && (
          <Field label="Project">
            {(ids) => (
              <Select
                {...ids}
                value={project || null}
                options={(projects.data ?? []).map(({ id, name }) => [id, `${name} (${id})`])}
                onChange={choose}
              />
            )}
          </Field>
        )}
        {tenant !== '' && !isMine && <ProjectIdForm key={project} project={project} onChoose={choose} />}
      </div>
    </section>
  )
}

/** Selects a project by ID, in an organization the user doesn't belong to. */
function ProjectIdForm({ project, onChoose }: { project: string; onChoose: (id: string) => void }) {
  const [typed, setTyped] = useState(project)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onChoose(typed.trim())
      }}
    >
      <Field label="Project ID" hint="Find it in the list of all wallets.">
        {(ids) => (
          <span className="id-choice">
            <input
              {...ids}
              required
              autoComplete="off"
              placeholder="prj_…"
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
            />
            <button type="submit" className="button">
              Open
            </button>
          </span>
        )}
      </Field>
    </form>
  )
}

const emptyDrafts = () => ({ funding: emptyWalletDraft('funding'), correction: emptyWalletDraft('correction') })

/**
 * Exact wallet of a project with its actions and history. A draft keeps its ID until it is booked, so resubmitting
 * after a lost response doesn't book it twice.
 */
function ProjectWallet({ scope }: { scope: ProjectScope }) {
  const [drafts, setDrafts] = useState(emptyDrafts)
  const [kind, setKind] = useState<'funding' | 'correction' | null>(null)
  const { data: wallet, error } = useQuery(reading(WALLET, { params: scope }))
  if (!wallet) return error ? <RefusalBox error={error} /> : <Waiting what="the wallet" />
  return (
    <>
      <section className="card stack" aria-label="Wallet">
        <div className="head">
          <h2>Wallet</h2>
          <div className="buttons">
            <button type="button" className="button main" onClick={() => setKind('funding')}>
              Add funds
            </button>
            <button type="button" className="button" onClick={() => setKind('correction')}>
              Adjust balance
            </button>
          </div>
        </div>
        <RefusalBox error={error} />
        <Facts
          className="figures"
          of={[
            ['Available', <Money micro={wallet.availableMicro} />],
            ['Reserved for calls in progress', <Money micro={wallet.reservedMicro} />],
            ['Charged to date', <Money micro={wallet.settledMicro} />],
            ['Funded, net of corrections', <Money micro={wallet.fundedMicro} />],
          ]}
        />
      </section>
      <FundingList scope={scope} />
      <JournalPart scope={scope} />
      {kind !== null && (
        <WalletChangeDialog
          draft={drafts[kind]}
          scope={scope}
          availableMicro={wallet.availableMicro}
          onChange={(draft) => setDrafts({ ...drafts, [kind]: draft })}
          onBooked={() => {
            setDrafts({ ...drafts, [kind]: emptyWalletDraft(kind) })
            setKind(null)
          }}
          onClose={() => setKind(null)}
        />
      )}
    </>
  )
}

const columns: Column<FundingRecord>[] = [
  { head: 'ID', cell: ({ id }) => <code>{id}</code> },
  { head: 'Kind', cell: ({ kind }) => (kind === 'funding' ? 'Funding' : 'Correction') },
  { head: 'Amount', cell: ({ micro }) => <Money micro={micro} />, isNumber: true },
  { head: 'Reason', cell: ({ reason }) => reason ?? '' },
  { head: 'By', cell: ({ user }) => <code className="small">{user}</code> },
  { head: 'When', cell: ({ at }) => <Moment iso={at} isExact /> },
]

/** Fundings and corrections of a wallet, newest first. */
function FundingList({ scope }: { scope: ProjectScope }) {
  const { data, error } = useQuery(readingAll(FUNDINGS, { params: scope }))
  return (
    <section className="stack" aria-label="Funding and corrections">
      <h2>Funding and corrections</h2>
      <RefusalBox error={error} />
      {data?.length === 0 && (
        <EmptyState title="No deposits yet">Add funds so that the project's calls are admitted.</EmptyState>
      )}
      {data && data.length > 0 && (
        <DataTable
          caption="Funding and corrections, newest first"
          columns={columns}
          rows={data}
          keyOf={({ kind, id }) => `${kind} ${id}`}
        />
      )}
    </section>
  )
}
