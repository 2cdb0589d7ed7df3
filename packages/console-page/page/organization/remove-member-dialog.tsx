import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { LeftKind, MemberRecord } from '@gateway/api/console/users'
import { ask } from '../api/ask.ts'
import { readingAll, useChange } from '../api/queries.ts'
import { FormDialog } from '../components/dialog.tsx'
import { Loaded } from '../components/list-states.tsx'
import { several } from '../components/usd.ts'
import { StoppedKeys } from '../users/stopped-keys.tsx'
import { useOrganization } from './list-screen.tsx'

/** Confirms removing a member, lists what the member made, and offers to end it. */
export function RemoveMemberDialog({ of: { id, name }, onClose }: { of: MemberRecord; onClose: () => void }) {
  const { tenant, name: organization } = useOrganization()
  const [kept, setKept] = useState<ReadonlySet<LeftKind>>(new Set())
  const { made, error } = useMade(id)
  const end = made?.filter(({ kind, names }) => names.length > 0 && !kept.has(kind)).map(({ kind }) => kind) ?? []
  const remove = useChange(
    () =>
      ask('DELETE', '/api/v2/tenants/{tenant}/members/{user}', {
        params: { tenant, user: id },
        query: end.length > 0 ? { end: end.join(',') } : {},
      }),
    `${name} removed.`,
  )
  const toggle = (kind: LeftKind) =>
    setKept(new Set(kept.has(kind) ? [...kept].filter((each) => each !== kind) : [...kept, kind]))
  return (
    <FormDialog
      title={`Remove ${name}?`}
      submit="Remove member"
      isDanger
      isReady={made !== undefined}
      change={remove}
      onClose={onClose}
    >
      <p>
        {name} immediately loses access to {organization}, including with personal tokens, and all roles in its teams
        and projects. Adding {name} again does not restore them.
      </p>
      <StoppedKeys user={id} name={name} />
      <Loaded of={{ data: made, error }} what="keys, tokens and webhooks">
        {(all) =>
          all.every(({ names }) => names.length === 0) ? (
            <p>{name} has created no keys that work or are paused, no service tokens and no webhooks here.</p>
          ) : (
            <fieldset className="stack">
              <legend>Also end what {name} created</legend>
              {all
                .filter(({ names }) => names.length > 0)
                .map(({ kind, label, names, ifKept }) => (
                  <label key={kind} className="check">
                    <input type="checkbox" checked={!kept.has(kind)} onChange={() => toggle(kind)} />
                    <span>
                      {several(names.length, label)}: {names.join(', ')}
                      {kept.has(kind) && <span className="soft small"> {ifKept}</span>}
                    </span>
                  </label>
                ))}
            </fieldset>
          )
        }
      </Loaded>
    </FormDialog>
  )
}

/** What a member made in the organization and is active, or a paused key: resumed, it would work again. */
function useMade(createdBy: string) {
  const { tenant } = useOrganization()
  const params = { tenant }
  const keysIn = (state: 'Active' | 'Paused') =>
    readingAll('/api/v2/tenants/{tenant}/keys', { params, query: { createdBy, state } })
  const lists = [
    useQuery(keysIn('Active')),
    useQuery(keysIn('Paused')),
    useQuery(readingAll('/api/v2/tenants/{tenant}/tokens', { params, query: { createdBy } })),
    useQuery(readingAll('/api/v2/tenants/{tenant}/webhooks', { params, query: { createdBy } })),
  ] as const
  const [active, paused, tokens, webhooks] = lists
  const error = lists.find((list) => list.error)?.error
  if (!active.data || !paused.data || !tokens.data || !webhooks.data) return { made: undefined, error }
  const made: { kind: LeftKind; label: string; names: string[]; ifKept: string }[] = [
    {
      kind: 'keys',
      label: 'key',
      names: [...active.data.map((key) => key.name), ...paused.data.map((key) => `${key.name} (paused)`)],
      ifKept: 'They work again if the member gets the roles for keys again.',
    },
    {
      kind: 'tokens',
      label: 'service token',
      names: tokens.data.map((token) => token.name),
      ifKept: 'They keep working until they expire.',
    },
    {
      kind: 'webhooks',
      label: 'webhook',
      names: webhooks.data.map(({ host }) => host),
      ifKept: 'They keep receiving alerts.',
    },
  ]
  return { made, error }
}
