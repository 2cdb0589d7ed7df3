import { Link, useSearch } from '@tanstack/react-router'
import { EmptyState, Waiting, Loaded } from '../components/list-states.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import './operator.css'
import { useQuery } from '@tanstack/react-query'
import { readingAll, reading } from '../api/queries.ts'
import { useMe, type ProjectScope } from '../api/session.ts'
import { LeaveGuard } from '../components/dialog.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { useState } from 'react'
import { Facts, Moment, Money } from '../components/values.tsx'
import { WalletChangeDialog } from './wallet-change-dialog.tsx'
import { emptyWalletDraft, WALLET, FUNDINGS, JOURNAL } from './wallet-draft.ts'
import type { FundingRecord, JournalEntry } from '@gateway/api/console/statement'
import { DataTable, type Column } from '../components/data-table.tsx'

/** Wallet of a project: add funds, adjust the balance, see its history. */
export function MoneyScreen() {
  const { tenant = '', project = '' } = useSearch({ from: '/operator/money' })
  const { platformOperator } = useMe()
  const isChosen = tenant !== '' && project !== ''
  const found = useQuery({
    ...reading('/api/v2/wallets', { params: {}, query: { q: project, limit: 1 } }),
    enabled: isChosen && platformOperator,
  })
  const [wallet] = found.data?.data ?? []
  return (
    <OperatorScreen title={wallet?.projectName ?? 'Wallet'} actions={<AllWallets />}>
      {isChosen ? (
        <>
          <RefusalBox error={found.error} />
          <Facts
            of={[
              ['Organization', wallet?.tenantName ?? <code>{tenant}</code>],
              ['Project ID', <code key="id">{project}</code>],
            ]}
          />
          <ProjectWallet key={`${tenant} ${project}`} scope={{ tenant, project }} />
        </>
      ) : (
        <EmptyState title="No wallet selected" action={<AllWallets />}>
          Choose one from the list of all wallets.
        </EmptyState>
      )}
    </OperatorScreen>
  )
}

function AllWallets() {
  return (
    <Link className="button" to="/operator/wallets">
      All wallets
    </Link>
  )
}

const emptyDrafts = () => ({ funding: emptyWalletDraft('funding'), correction: emptyWalletDraft('correction') })

/**
 * Exact wallet of a project with its actions and history. A draft keeps its ID until it is booked, so resubmitting
 * after a lost response doesn't book it twice.
 */
function ProjectWallet({ scope }: { scope: ProjectScope }) {
  const [empty, setEmpty] = useState(emptyDrafts)
  const [drafts, setDrafts] = useState(empty)
  const [kind, setKind] = useState<'funding' | 'correction' | null>(null)
  const { data: wallet, error } = useQuery(reading(WALLET, { params: scope }))
  if (!wallet) return error ? <RefusalBox error={error} /> : <Waiting what="the wallet" />
  return (
    <>
      <LeaveGuard isUnsaved={JSON.stringify(drafts) !== JSON.stringify(empty)}>
        The funding or correction that you typed is lost if you leave.
      </LeaveGuard>
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
            const next = { [kind]: emptyWalletDraft(kind) }
            setEmpty({ ...empty, ...next })
            setDrafts({ ...drafts, ...next })
            setKind(null)
          }}
          onClose={() => setKind(null)}
        />
      )}
    </>
  )
}

const fundingColumns: Column<FundingRecord>[] = [
  { head: 'ID', cell: ({ id }) => <code>{id}</code> },
  { head: 'Kind', cell: ({ kind }) => (kind === 'funding' ? 'Funding' : 'Correction') },
  { head: 'Amount', cell: ({ micro }) => <Money micro={micro} />, isNumber: true },
  { head: 'Reason', cell: ({ reason }) => reason ?? '–' },
  { head: 'By', cell: ({ user, userName }) => userName ?? <code className="small">{user}</code> },
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
          columns={fundingColumns}
          rows={data}
          keyOf={({ kind, id }) => `${kind} ${id}`}
        />
      )}
    </section>
  )
}

const NEWEST = 50
const journalAmount = (head: string, of: (entry: JournalEntry) => number): Column<JournalEntry> => ({
  head,
  cell: (entry) => <Money micro={of(entry)} />,
  isNumber: true,
})
const journalColumns: Column<JournalEntry>[] = [
  { head: 'Entry', cell: ({ seq }) => seq },
  { head: 'Kind', cell: ({ kind }) => kind },
  { head: 'Reference', cell: ({ reference }) => <code className="small">{reference}</code> },
  journalAmount('Available', ({ available }) => available),
  journalAmount('Reserved', ({ reserved }) => reserved),
  journalAmount('Charged', ({ settled }) => settled),
  { head: 'When', cell: ({ at }) => <Moment iso={at} to="second" isExact /> },
]

/** The latest journal entries, loaded when opened. */
function JournalPart({ scope }: { scope: ProjectScope }) {
  const [isOpen, setOpen] = useState(false)
  const mine = useMe().tenants.find(({ id }) => id === scope.tenant)?.projects
  const hasRole = mine?.some(({ id }) => id === scope.project) ?? false
  const journal = useQuery({
    ...reading(JOURNAL, { params: scope, query: { limit: NEWEST } }),
    enabled: isOpen,
  })
  if (!hasRole)
    return <p className="soft small">The journal lists calls, so only users with a role on the project can see it.</p>
  return (
    <details className="journal" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Latest {NEWEST} journal entries, as changes to the wallet</summary>
      <div className="stack">
        {isOpen && (
          <Loaded of={journal} what="the journal">
            {({ data }) => (
              <DataTable caption="Journal" columns={journalColumns} rows={data} keyOf={({ seq }) => String(seq)} />
            )}
          </Loaded>
        )}
      </div>
    </details>
  )
}
