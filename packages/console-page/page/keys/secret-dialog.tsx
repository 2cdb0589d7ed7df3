import { useState } from 'react'
import type { KeyRecord } from '@gateway/contracts/console/keys'
import { useBaseUrl } from '../api/session.ts'
import { useProducts } from '../api/use-project.ts'
import { Copyable } from '../parts/copyable.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { firstCall, firstCallInPython } from '../pure/commands.ts'

const clients = { curl: firstCall, Python: firstCallInPython } as const
type Client = keyof typeof clients

/** A new secret, shown this once, and a command that tries it. Only its button closes it. */
export function SecretDialog({
  made: { key, secret, resolution },
  onClose,
}: {
  made: { key: KeyRecord; secret: string | null; resolution?: string | undefined }
  onClose: () => void
}) {
  const [client, setClient] = useState<Client>('curl')
  const baseUrl = useBaseUrl()
  const { products } = useProducts()
  const callable = products.filter(
    ({ id, kind }) => kind === 'chat' && (key.policy !== 'listed' || key.resources.includes(id)),
  )
  if (secret === null)
    return (
      <Dialog title="The key was made before" stays onClose={onClose}>
        <p>{resolution}</p>
        <button type="button" className="button main" onClick={onClose}>
          Close
        </button>
      </Dialog>
    )
  return (
    <Dialog title={`The secret of ${key.name}`} stays onClose={onClose}>
      <p className="notice">
        Copy it now: it is shown this once and kept nowhere. Whoever has it can spend from the project.
      </p>
      <Copyable text={secret} label="Copy the secret" />
      <div className="head">
        <h3>Try it</h3>
        <div className="buttons" role="group" aria-label="Client">
          {(Object.keys(clients) as Client[]).map((each) => (
            <button
              key={each}
              type="button"
              className="button small"
              aria-pressed={each === client}
              onClick={() => setClient(each)}
            >
              {each}
            </button>
          ))}
        </div>
      </div>
      <Copyable text={clients[client](baseUrl, secret, callable[0]?.id)} label="Copy the command" />
      <div className="buttons">
        <button type="button" className="button main" onClick={onClose}>
          I have copied it
        </button>
      </div>
    </Dialog>
  )
}
