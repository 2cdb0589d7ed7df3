import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { SessionRecord } from '@gateway/api/console/second-factor'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { useChange } from '../api/use-change.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { Moment } from '../components/moment.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { RowButtons } from '../users/row-buttons.tsx'
import { deviceName } from './device-name.ts'

/** Where the user is signed in, and how to end it. */
export function SessionsSection() {
  const { data, error } = useQuery(readingAll('/api/v2/me/sessions', { params: {} }))
  const [ended, setEnded] = useState<SessionRecord | null>(null)
  const [isEndingAll, setEndingAll] = useState(false)
  const columns: Column<SessionRecord>[] = [
    {
      head: 'Device',
      cell: ({ device, address, current }) => (
        <>
          <span title={device}>{deviceName(device)}</span>
          {current && ' (this one)'}
          <div className="soft small">{address}</div>
        </>
      ),
    },
    {
      head: 'Signed in with',
      cell: ({ method, secondFactor }) =>
        `${method === 'password' ? 'Password' : 'Single sign-on'}${secondFactor ? ' and second factor' : ''}`,
    },
    { head: 'Signed in', cell: ({ createdAt }) => <Moment iso={createdAt} /> },
    { head: 'Last used', cell: ({ lastUsedAt }) => <Moment iso={lastUsedAt} /> },
    {
      head: 'Actions',
      cell: (session) =>
        session.current ? null : (
          <RowButtons
            acts={['Sign out']}
            of={`${deviceName(session.device)} at ${session.address}`}
            onChoose={() => setEnded(session)}
          />
        ),
    },
  ]
  return (
    <section className="card stack" aria-label="Sessions">
      <div className="head">
        <h2>Sessions</h2>
        <button type="button" className="button danger" onClick={() => setEndingAll(true)}>
          Sign out everywhere
        </button>
      </div>
      <RefusalBox error={error} />
      {!data && !error && <Waiting what="sessions" />}
      {data && <DataTable caption="Sessions" columns={columns} rows={data} keyOf={({ id }) => id} />}
      {ended && <EndSessionDialog of={ended} onClose={() => setEnded(null)} />}
      {isEndingAll && <SignOutEverywhereDialog onClose={() => setEndingAll(false)} />}
    </section>
  )
}

function EndSessionDialog({ of: { id, device }, onClose }: { of: SessionRecord; onClose: () => void }) {
  const end = useChange(
    () => ask('DELETE', '/api/v2/me/sessions/{session}', { params: { session: id } }),
    'Session ended.',
    ['/api/v2/me/sessions'],
  )
  return (
    <FormDialog title={`Sign out ${deviceName(device)}?`} submit="Sign out" isDanger change={end} onClose={onClose}>
      <p>If you don't recognize this session, also change your password.</p>
    </FormDialog>
  )
}

function SignOutEverywhereDialog({ onClose }: { onClose: () => void }) {
  const end = useChange(() => ask('DELETE', '/api/v2/me/sessions', { params: {} }), 'Signed out everywhere.', [])
  return (
    <FormDialog
      title="Sign out everywhere?"
      submit="Sign out everywhere"
      isDanger
      change={end}
      onDone={() => location.assign(import.meta.env.BASE_URL)}
      onClose={onClose}
    >
      <p>
        Ends all your sessions, including this one, and deletes your personal tokens. Programs that use them stop
        working. API keys and service tokens don't change.
      </p>
    </FormDialog>
  )
}
