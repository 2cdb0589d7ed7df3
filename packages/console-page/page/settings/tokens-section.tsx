import { useState } from 'react'
import { useMemberNames } from '../api/use-names.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { RowButtons } from '../users/row-buttons.tsx'
import { CreateTokenDialog } from './create-token-dialog.tsx'
import { DeleteTokenDialog } from './delete-token-dialog.tsx'
import type { ShownToken, TokenScope } from './token-scope.ts'

/** List of tokens with their permissions, and the form for a new one. */
export function TokensSection({ title, of, text }: { title: string; of: TokenScope; text: string }) {
  const [isCreating, setCreating] = useState(false)
  const [deleted, setDeleted] = useState<ShownToken | null>(null)
  const columns: Column<ShownToken>[] = [
    {
      head: 'Token',
      cell: ({ name, prefix, createdBy }) => (
        <>
          {name}
          <div className="soft small">
            <code>{prefix}…</code>
            {createdBy !== undefined && <CreatedBy user={createdBy} />}
          </div>
        </>
      ),
    },
    ...(of.placeOf ? [{ head: 'Scope', cell: of.placeOf }] : []),
    { head: of.label, cell: ({ permissions }) => permissions.join(', ') },
    { head: 'Created', cell: ({ createdAt }) => <Moment iso={createdAt} to="day" /> },
    { head: 'Expires', cell: ({ expiresAt }) => <Moment iso={expiresAt} to="day" /> },
    {
      head: 'Actions',
      cell: (token) => <RowButtons acts={['Delete']} of={`token ${token.name}`} onChoose={() => setDeleted(token)} />,
    },
  ]
  return (
    <section className="card stack" aria-label={title}>
      <div className="head">
        <h2>{title}</h2>
        {!of.error && (
          <button type="button" className="button" onClick={() => setCreating(true)}>
            Create token
          </button>
        )}
      </div>
      <p className="soft">{text}</p>
      <RefusalBox error={of.error} />
      {!of.tokens && !of.error && <Waiting what="tokens" />}
      {of.tokens?.length === 0 && <p className="soft">No tokens yet.</p>}
      {of.tokens && of.tokens.length > 0 && (
        <DataTable caption={title} columns={columns} rows={of.tokens} keyOf={({ id }) => id} />
      )}
      {isCreating && <CreateTokenDialog of={of} onClose={() => setCreating(false)} />}
      {deleted && <DeleteTokenDialog token={deleted} of={of} onClose={() => setDeleted(null)} />}
    </section>
  )
}

function CreatedBy({ user }: { user: string }) {
  const nameOf = useMemberNames()
  return <> by {nameOf(user)}</>
}
