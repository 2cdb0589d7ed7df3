import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { InvitationRecord } from '@gateway/api/console/users'
import { ask } from '../api/ask.ts'
import { readingAll, useChange } from '../api/queries.ts'
import { useScope } from '../api/session.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { FormDialog, Dialog } from '../components/dialog.tsx'
import { Moment } from '../components/values.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { onThisHost } from '../sign-in/link-secret.ts'

const INVITATIONS = '/api/v2/tenants/{tenant}/invitations'

const deliveries: Record<InvitationRecord['delivery'], string> = {
  link: 'Link to hand over',
  pending: 'Mail not sent yet',
  sent: 'Mail sent',
  failed: 'Mail failed',
}

/** Invitations that no one has accepted yet, for Admins. */
export function OpenInvitations() {
  const { tenant } = useScope()
  const { data, error } = useQuery(readingAll(INVITATIONS, { params: { tenant } }))
  const [chosen, setChosen] = useState<{ act: 'Resend' | 'Revoke'; invitation: InvitationRecord } | null>(null)
  const onClose = () => setChosen(null)
  const columns: Column<InvitationRecord>[] = [
    { head: 'Invited', cell: ({ email }) => email },
    { head: 'Role', cell: ({ role }) => role },
    { head: 'Status', cell: ({ delivery, expiresAt }) => (hasExpired(expiresAt) ? 'Expired' : deliveries[delivery]) },
    { head: 'Expires', cell: ({ expiresAt }) => <Moment iso={expiresAt} /> },
    {
      head: 'Actions',
      cell: (invitation) => (
        <RowActions
          acts={['Resend', 'Revoke']}
          of={invitation.email}
          onChoose={(act) => setChosen({ act, invitation })}
        />
      ),
    },
  ]
  return (
    <>
      <RefusalBox error={error} />
      {data && data.length > 0 && (
        <section className="stack" aria-label="Open invitations">
          <h2>Open invitations</h2>
          <DataTable caption="Open invitations" columns={columns} rows={data} keyOf={({ id }) => id} />
        </section>
      )}
      {chosen?.act === 'Resend' && <ResendDialog of={chosen.invitation} onClose={onClose} />}
      {chosen?.act === 'Revoke' && <RevokeInvitationDialog of={chosen.invitation} onClose={onClose} />}
    </>
  )
}

const hasExpired = (iso: string) => Date.parse(iso) <= Date.now()

function ResendDialog({ of: { id, email }, onClose }: { of: InvitationRecord; onClose: () => void }) {
  const { tenant } = useScope()
  const [made, setMade] = useState<ShownInvitation | null>(null)
  const resend = useChange(
    () => ask('POST', `${INVITATIONS}/{invitation}/resend`, { params: { tenant, invitation: id } }),
    'Invitation sent again.',
    [INVITATIONS],
  )
  if (made) return <InvitationLinkDialog of={made} onClose={onClose} />
  return (
    <FormDialog
      title="Send the invitation again?"
      submit="Send again"
      change={resend}
      onDone={setMade}
      onClose={onClose}
    >
      <p>{email} gets a new link for another 72 hours. The link before stops working.</p>
    </FormDialog>
  )
}

function RevokeInvitationDialog({ of: { id, email }, onClose }: { of: InvitationRecord; onClose: () => void }) {
  const { tenant } = useScope()
  const revoke = useChange(
    () => ask('DELETE', `${INVITATIONS}/{invitation}`, { params: { tenant, invitation: id } }),
    'Invitation revoked.',
    [INVITATIONS],
  )
  return (
    <FormDialog title="Revoke the invitation?" submit="Revoke" isDanger change={revoke} onClose={onClose}>
      <p>The link that {email} has stops working.</p>
    </FormDialog>
  )
}

/** An invitation and its link, which is shown once. */
export interface ShownInvitation {
  invitation: InvitationRecord
  link: string | null
  resolution?: string | undefined
}

/** Shows the link to hand over, or that a mail is on its way. */
export function InvitationLinkDialog({
  of: { invitation, link, resolution },
  onClose,
}: {
  of: ShownInvitation
  onClose: () => void
}) {
  if (link === null && resolution === undefined)
    return (
      <Dialog title="Invitation on its way" onClose={onClose}>
        <p>A mail to {invitation.email} is on its way. Its link works once, for 72 hours.</p>
        <div className="buttons">
          <button type="button" className="button main" onClick={onClose}>
            Done
          </button>
        </div>
      </Dialog>
    )
  return (
    <SecretDialog
      title={`Invitation for ${invitation.email}`}
      secret={link === null ? null : onThisHost(link)}
      before={{ title: 'Invited already', resolution }}
      warning="Copy this link now and send it to the invited user. It works once, for 72 hours, and is not shown again. Anyone who has it can accept the invitation."
      copy="Copy link"
      onClose={onClose}
    />
  )
}
