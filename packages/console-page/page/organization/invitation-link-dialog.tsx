import type { InvitationRecord } from '@gateway/api/console/users'
import { Dialog } from '../components/dialog.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { onThisHost } from '../sign-in/link-secret.ts'

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
