import type { KeyRecord } from '@gateway/api/console/keys'
import { useBaseUrl, useProducts } from '../api/session.ts'
import { CodeChoice, SecretDialog } from '../components/secret-dialog.tsx'
import { firstCalls } from './commands.ts'

/** The secret of a key, and a command to try it. */
export function KeySecretDialog({
  made: { key, secret, resolution },
  onClose,
}: {
  made: { key: KeyRecord; secret: string | null; resolution?: string | undefined }
  onClose: () => void
}) {
  const baseUrl = useBaseUrl()
  const { products } = useProducts()
  const callable = products.find(
    ({ id, kind }) => kind === 'chat' && (key.policy !== 'listed' || key.resources.includes(id)),
  )
  return (
    <SecretDialog
      title={`Secret for ${key.name}`}
      secret={secret}
      before={{ title: 'Key already created', resolution }}
      warning="Copy the secret now: we can't show it again. Anyone who has it can spend from this project."
      copy="Copy secret"
      onClose={onClose}
    >
      {secret !== null && (
        <CodeChoice title="Try it" label="Client" copy="Copy command" of={firstCalls(baseUrl, secret, callable?.id)} />
      )}
    </SecretDialog>
  )
}
