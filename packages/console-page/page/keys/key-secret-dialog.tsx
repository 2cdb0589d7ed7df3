import type { KeyRecord } from '@gateway/api/console/keys'
import { useBaseUrl } from '../api/session.ts'
import { useProducts } from '../api/use-project.ts'
import { CodeChoice } from '../parts/code-choice.tsx'
import { SecretDialog } from '../parts/secret-dialog.tsx'
import { firstCall, firstCallInPython } from '../pure/commands.ts'

/** The secret of a key, and a command that tries it. */
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
      title={`The secret of ${key.name}`}
      secret={secret}
      before={{ title: 'The key was made before', resolution }}
      warning="Copy it now: it is shown this once and kept nowhere. Whoever has it can spend from the project."
      copy="Copy the secret"
      onClose={onClose}
    >
      {secret !== null && (
        <CodeChoice
          title="Try it"
          label="Client"
          copy="Copy the command"
          of={{
            curl: firstCall(baseUrl, secret, callable?.id),
            Python: firstCallInPython(baseUrl, secret, callable?.id),
          }}
        />
      )}
    </SecretDialog>
  )
}
