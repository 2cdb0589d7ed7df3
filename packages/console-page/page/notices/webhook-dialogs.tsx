import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { WebhookRecord } from '@gateway/api/console/notices'
import { TextField } from '../components/fields.tsx'
import { SelectField } from '../components/select.tsx'
import { CodeChoice, SecretDialog } from '../components/secret-dialog.tsx'
import { signatureChecks } from './signature-checks.ts'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/queries.ts'
import { useMemberNames, useScope } from '../api/session.ts'
import { FormDialog } from '../components/dialog.tsx'
import { WEBHOOK, WEBHOOKS, useWebhookChange } from './notice-link.tsx'
import { destinationKinds, destinationText } from './notice-labels.tsx'

/** Form for a new destination of alerts. A webhook then shows its signing secret. */
export function AddDestinationDialog({ onClose }: { onClose: () => void }) {
  const params = useScope()
  const [kind, setKind] = useState<WebhookRecord['kind']>('standard')
  const [url, setUrl] = useState('')
  const [user, setUser] = useState('')
  const create = useWebhookChange(
    () => ask('POST', WEBHOOKS, { params, body: kind === 'email' ? { kind, user: user || null } : { kind, url } }),
    kind === 'standard'
      ? "Webhook added. Copy the signing secret now: it won't be shown again."
      : 'Destination added. Send a test to check it.',
  )
  const { webhook, secret } = create.data ?? {}
  if (webhook && secret) return <SigningSecretDialog made={{ webhook, secret }} onClose={onClose} />
  return (
    <FormDialog
      title="Add destination"
      submit="Add destination"
      change={create}
      onDone={(made) => made.secret === null && onClose()}
      onClose={onClose}
    >
      <SelectField
        label="Type"
        value={kind}
        options={Object.entries(destinationKinds) as [WebhookRecord['kind'], string][]}
        onChange={setKind}
      />
      {kind === 'email' ? (
        <RecipientField user={user} onChange={setUser} />
      ) : (
        <TextField
          label="Endpoint URL"
          hint={
            kind === 'slack'
              ? 'An incoming webhook of Slack, or of a service that takes the same messages.'
              : 'A public https:// URL. Every alert of the project is posted to it.'
          }
          type="url"
          required
          maxLength={2048}
          placeholder={kind === 'slack' ? 'https://hooks.slack.com/services/…' : 'https://hooks.example.com/notices'}
          value={url}
          onChange={setUrl}
        />
      )}
    </FormDialog>
  )
}

/** Who gets alerts by email: the Project Owners, or a user with a role on the project. */
function RecipientField({ user, onChange }: { user: string; onChange: (user: string) => void }) {
  const params = useScope()
  const { data } = useQuery(readingAll('/api/v2/tenants/{tenant}/projects/{project}/grants', { params }))
  return (
    <SelectField
      label="Recipient"
      hint="Emails stop when the user loses access to the project."
      value={user}
      options={[['', 'Project Owners'], ...(data ?? []).map(({ id, name }) => [id, name] as const)]}
      onChange={onChange}
    />
  )
}

/** The signing secret of a webhook, and code that verifies a signature. */
export function SigningSecretDialog({
  made: { webhook, secret },
  onClose,
}: {
  made: { webhook: WebhookRecord; secret: string }
  onClose: () => void
}) {
  return (
    <SecretDialog
      title="Signing secret"
      secret={secret}
      warning={
        <>
          Copy the secret now: we can't show it again. Anyone who has it can sign alerts to <code>{webhook.url}</code>.
        </>
      }
      copy="Copy signing secret"
      onClose={onClose}
    >
      <CodeChoice title="Verify a signature" label="Language" copy="Copy code" of={signatureChecks} />
      <p className="soft small">
        Standard Webhooks libraries work too. An alert may be delivered twice, with the same <code>webhook-id</code>.
      </p>
    </SecretDialog>
  )
}

/** Confirms deleting a destination, which can't be undone. */
export function DeleteWebhookDialog({
  of,
  onDone,
  onClose,
}: {
  of: WebhookRecord
  /** Called instead of `onClose` on success. */
  onDone?: () => void
  onClose: () => void
}) {
  const params = { ...useScope(), webhook: of.id }
  const nameOf = useMemberNames()
  const remove = useWebhookChange(() => ask('DELETE', WEBHOOK, { params }), 'Destination deleted.')
  return (
    <FormDialog
      title="Delete destination?"
      submit="Delete destination"
      isDanger
      change={remove}
      onDone={onDone ?? onClose}
      onClose={onClose}
    >
      <p>
        Alerts are no longer sent to <code>{destinationText(of, nameOf)}</code>, and pending deliveries are dropped.
        {of.kind === 'standard' && ' Its signing secret becomes invalid.'} Alerts are still listed here.
      </p>
    </FormDialog>
  )
}
